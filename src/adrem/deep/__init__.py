"""Adapt a network end to end: Ad-REM labels the target on its features, and the network learns from these labels.

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
