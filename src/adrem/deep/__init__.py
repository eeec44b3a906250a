"""Networks that learn from the labels of Ad-REM on their features, and deep methods of others.

It needs PyTorch and safetensors: ``pip install 'adrem[deep]'``.
"""

from importlib.util import find_spec

from adrem.exceptions import MissingImportError

if not (find_spec("torch") and find_spec("safetensors")):
    raise MissingImportError("adrem.deep needs PyTorch and safetensors: pip install 'adrem[deep]'.")

from adrem.deep.estimator import DeepAdREM
from adrem.deep.losses import ALIGNMENTS, Alignment
from adrem.deep.peers import DeepPeer
from adrem.deep.resnet import ResNet50
from adrem.deep.saving import load, save

__all__ = ["ALIGNMENTS", "Alignment", "DeepAdREM", "DeepPeer", "ResNet50", "load", "save"]
