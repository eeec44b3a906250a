"""Machines on a PyTorch device. They are imported only when a device is requested."""

from adrem.machines.torch.gram import TorchGramMachine
from adrem.machines.torch.rows import TorchRowMachine
from adrem.machines.torch.similarities import TorchKernelMachine
from adrem.machines.torch.sparse import TorchSparseRowMachine

__all__ = ["TorchGramMachine", "TorchKernelMachine", "TorchRowMachine", "TorchSparseRowMachine"]
