"""Machines on a PyTorch device. They are imported only when a device is requested."""

from adrem.machines.torch.gram import TorchGramMachine, gram_memory
from adrem.machines.torch.rows import TorchRowMachine, row_memory
from adrem.machines.torch.sparse import TorchSparseRowMachine, sparse_row_memory

__all__ = [
    "TorchGramMachine",
    "TorchRowMachine",
    "TorchSparseRowMachine",
    "gram_memory",
    "row_memory",
    "sparse_row_memory",
]
