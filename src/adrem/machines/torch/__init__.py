"""The M-step on a device of PyTorch. Nothing else imports it before a device is asked for."""

from adrem.machines.torch._gram import TorchGramMachine
from adrem.machines.torch._rows import TorchRowMachine
from adrem.machines.torch._sparse import TorchSparseRowMachine

__all__ = ["TorchGramMachine", "TorchRowMachine", "TorchSparseRowMachine"]
