"""
# From two folders of pictures to labels

The digits of scikit-learn, written as pictures: those in one folder are clean, with a subfolder for each class; those
in the other went through a poor camera. A small network makes features of them, and Ad-REM labels the second folder.
"""

from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt
import numpy as np
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from sklearn.cluster import KMeans
from sklearn.feature_extraction.image import PatchExtractor

from adrem import AdREM, adapt_tables
from adrem.datasets import load_digits_shift
from adrem.features import ImageEncoder

X_source, y_source, X_target, y_target = load_digits_shift()
folder = Path(mkdtemp())
SIDE = 32


def write(row: np.ndarray, path: Path) -> None:
    """Write a row of 64 pixels as a picture, with dark ink on white paper."""
    path.parent.mkdir(parents=True, exist_ok=True)
    paper = (255 * (1 - row.reshape(8, 8))).round().astype(np.uint8)
    Image.fromarray(paper).resize((64, 64), Image.Resampling.BICUBIC).save(path)


for place, (row, label) in enumerate(zip(X_source, y_source, strict=True)):
    write(row, folder / "clean" / str(label) / f"{place:03}.png")
for place, row in enumerate(X_target):
    write(row, folder / "camera" / f"{place:03}.png")

# %%
# Any network for images will do, if it is an ONNX file or a module of torch. This one has a single layer: its 48
# filters are the most common small parts of the clean pictures, found by k-means.

pictures = [np.asarray(Image.open(path).resize((SIDE, SIDE))) / 255 for path in sorted(folder.glob("clean/*/*.png"))]
patches = PatchExtractor(patch_size=(9, 9), max_patches=20, random_state=0).transform(np.stack(pictures))
patches = patches.reshape(len(patches), -1)
patches -= patches.mean(axis=1, keepdims=True)
strength = np.linalg.norm(patches, axis=1)
patches = patches[strength > 0.5] / strength[strength > 0.5, None]
parts = KMeans(48, n_init=1, random_state=0).fit(patches).cluster_centers_

kernel = np.repeat(parts.reshape(48, 1, 9, 9), 3, axis=1).astype(np.float32)  # for three colours, which are all grey
arrays = [numpy_helper.from_array(kernel, "kernel")]
nodes = [
    helper.make_node("Conv", ["images", "kernel"], ["found"]),
    helper.make_node("Relu", ["found"], ["positive"]),
    helper.make_node("AveragePool", ["positive"], ["places"], kernel_shape=[8, 8], strides=[8, 8]),
    helper.make_node("Flatten", ["places"], ["features"]),
]
given = helper.make_tensor_value_info("images", TensorProto.FLOAT, ["n", 3, SIDE, SIDE])
made = helper.make_tensor_value_info("features", TensorProto.FLOAT, ["n", 48 * 3 * 3])
graph = helper.make_graph(nodes, "parts", [given], [made], arrays)
network = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
(folder / "parts.onnx").write_bytes(network.SerializeToString())

# %%
# Two folders and the network are all that is needed. The command line does the same with networks for images of
# 224 x 224 pixels: `adrem adapt studio/ phone/ --encoder FILE.onnx -o labels.csv --report page.html`.

encoder = ImageEncoder(folder / "parts.onnx", size=SIDE, cache=False)
adapted = adapt_tables(folder / "clean", folder / "camera", encoder=encoder, model=AdREM(random_state=0))

labels = adapted.labels.label.astype(int)
source_only = adapted.bundle.baseline.predict(adapted.pair.X_target).astype(int)
print("verdict:", adapted.verdict.choice)
print(f"right, source only: {100 * np.mean(source_only == y_target):.0f} %")
print(f"right, adapted: {100 * np.mean(labels == y_target):.0f} %")

# %%
# Some pictures whose label was changed by adapting: the label of the source alone, and the adapted one. The report of
# the command shows such pictures for each label, beside the surest and the least sure.

changed = np.flatnonzero(labels != source_only)[:18]
picture, axes = plt.subplots(3, 6, figsize=(6, 4), layout="constrained")
for ax, place in zip(axes.flat, changed, strict=True):
    ax.imshow(Image.open(folder / "camera" / f"{place:03}.png"), cmap="gray")
    ax.set_title(f"{source_only[place]} \N{RIGHTWARDS ARROW} {labels[place]}")
    ax.axis("off")
