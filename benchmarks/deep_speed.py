"""Measure how fast a network is trained, against what the device can do, and whether two fits give the same labels.

    ADREM_MODELS=folder python benchmarks/deep_speed.py [--device cuda] [--steps 60]

The images are random. The ceiling is the network alone, forward and backward, in batches of 64 and of 256, with the
fastest algorithms that cuDNN finds: no crops, no optimizer, no losses between domains.
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import Any

import numpy as np
import torch

from adrem.deep import DeepPeer, ResNet50

N_IMAGES, SIDE, N_CLASSES = 512, 256, 31


def images_per_second(network: Any, batch: int, steps: int, device: Any) -> float:
    """Return the rate of passes forward and backward."""
    torch.backends.cudnn.benchmark = True
    rows = torch.randn(batch, 3, 224, 224, device=device).contiguous(memory_format=torch.channels_last)
    begin = 0.0
    for step in range(steps + 5):
        if step == 5:
            wait(device)
            begin = perf_counter()
        with torch.autocast(device.type, torch.bfloat16):
            loss = network(rows).float().square().mean()
        loss.backward()
    wait(device)
    torch.backends.cudnn.benchmark = False
    return batch * steps / (perf_counter() - begin)


def wait(device: Any) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=60)
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    print(torch.cuda.get_device_name() if device.type == "cuda" else "CPU", torch.__version__, flush=True)
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (N_IMAGES, SIDE, SIDE, 3), dtype=np.uint8)
    y = np.arange(N_IMAGES) % N_CLASSES
    network = ResNet50.load_known()
    settings: dict[str, Any] = {"steps": arguments.steps, "device": arguments.device, "random_state": 0}
    fits = [DeepPeer(network, "mcc", **settings).fit(pixels, y, X_target=pixels) for _ in range(2)]
    rates = [fit.training_log_[0]["rows_per_second"] for fit in fits]
    print(f"training: {rates[0]:.0f} images a second in the first fit, {rates[1]:.0f} in the second", flush=True)
    one, other = (fit.network_.state_dict() for fit in fits)
    print(
        "both fits:", "equal" if all(torch.equal(one[name], other[name]) for name in one) else "not equal", flush=True
    )
    moved = network.to(device, memory_format=torch.channels_last).train()
    for batch in (64, 256):
        rate = images_per_second(moved, batch, max(1, arguments.steps * 64 // batch), device)
        print(f"network alone, batches of {batch}: {rate:.0f} images a second", flush=True)


if __name__ == "__main__":
    main()
