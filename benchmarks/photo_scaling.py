"""Find out how the photos behind the paper's features of Office-31 were scaled: the cosine with several ways to do it.

    ADREM_DATA=folder ADREM_MODELS=folder python benchmarks/photo_scaling.py PHOTOS [--out FILE]

PHOTOS is the folder that office-31-images.tar unpacks to, photos of 256 x 256 pixels that were compressed again. The
last row tells what this costs: photos that come with scikit-learn are scaled to 256 pixels and compressed with the same
quality, and their features compared with those made from the originals, both by the default way.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from csv_files import read_csv, write_csv
from numpy.typing import NDArray
from office_photos import DOMAINS, cosine, photos
from PIL import Image
from sklearn.datasets import load_sample_images

from adrem.datasets import load
from adrem.features import ImageEncoder

OUT = Path(__file__).parents[1] / "docs/results/photo_scaling.csv"
FIELDS = ("scaling", *DOMAINS.values(), "others")
SIZE, SHARED, QUALITY, N_PHOTOS = 224, 256, 76, 24  # photos of each domain
FILTERS = Image.Resampling


def scaled(image: Any, how: Image.Resampling) -> Any:
    return image.resize((SIZE, SIZE), how)


def cropped(image: Any) -> Any:
    first = (SHARED - SIZE) // 2
    return image.resize((SHARED, SHARED), FILTERS.BILINEAR).crop((first, first, first + SIZE, first + SIZE))


WAYS: dict[str, Callable[[Any], Any]] = {
    "bilinear (default)": lambda image: scaled(image, FILTERS.BILINEAR),
    "bicubic": lambda image: scaled(image, FILTERS.BICUBIC),
    "lanczos": lambda image: scaled(image, FILTERS.LANCZOS),
    "box": lambda image: scaled(image, FILTERS.BOX),
    "nearest": lambda image: scaled(image, FILTERS.NEAREST),
    "centre of 256 x 256": cropped,
    "red and blue exchanged": lambda image: Image.fromarray(np.asarray(scaled(image, FILTERS.BILINEAR))[:, :, ::-1]),
}


def features(encoder: ImageEncoder, images: list[Any]) -> NDArray[np.float64]:
    return encoder.transform(images).astype(np.float64)


def shared_form(image: Any) -> Any:
    """Return a photo as those of Office-31 were shared: scaled, and compressed again."""
    file = io.BytesIO()
    image.resize((SHARED, SHARED), FILTERS.BICUBIC).save(file, "JPEG", quality=QUALITY)
    return Image.open(file).convert("RGB")


def squares() -> list[Any]:
    """Return squares of the photos of scikit-learn."""
    found = []
    for pixels in load_sample_images().images:
        height, width = pixels.shape[:2]
        places = np.linspace(0, width - height, 6).astype(int)
        found += [Image.fromarray(np.ascontiguousarray(pixels[:, first : first + height])) for first in places]
    return found


def summarize(rows: list[dict[str, str]]) -> str:
    """Return the table of the guide."""
    names = [*DOMAINS.values()]
    lines = [f"| scaling | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    lines += [
        f"| {row['scaling']} | {' | '.join(f'{float(row[name]):.3f}' for name in names)} |"
        for row in rows
        if row["scaling"] in WAYS
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    encoder = ImageEncoder(cache=False).fit([])
    data = load("office-31-resnet50")
    rows: dict[str, dict[str, Any]] = {way: {"scaling": way, "others": ""} for way in WAYS}
    for key, name in DOMAINS.items():
        files = photos(arguments.photos, name)
        places = np.linspace(0, len(files) - 1, N_PHOTOS).astype(int)
        images = [Image.open(files[place]).convert("RGB") for place in places]
        paper = np.asarray(data.domains[key].X, np.float64)[places]
        for way, scale in WAYS.items():
            made = features(encoder, [scale(image) for image in images])
            rows[way][name] = f"{cosine(made, paper).mean():.4f}"
    originals = squares()
    cost = cosine(features(encoder, originals), features(encoder, [shared_form(image) for image in originals]))
    last = {"scaling": "scaled and compressed before, against the original", "others": f"{cost.mean():.4f}"}
    write_csv(arguments.out, FIELDS, [*rows.values(), {**dict.fromkeys(FIELDS, ""), **last}])
    print(summarize(read_csv(arguments.out)))


if __name__ == "__main__":
    main()
