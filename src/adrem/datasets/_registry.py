"""The data sets that the package knows: their files, checksums, addresses, and how they are read and scaled.

An address is `tried` when a download from it was seen to give the bytes expected. None was so far: they are what the
owners, or libraries that mirror them, state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from adrem.datasets import _readers as readers
from adrem.datasets._readers import Table
from adrem.datasets.digits import load_digits_shift
from adrem.datasets.toy import make_rotated_arcs

IMAGES = "Image features, for research use by the terms of the images' owners."
KERAS = (
    "No public address is known. To make the files: ResNet-50 with the ImageNet weights that Keras ships, images scaled"
    " to 224 x 224, the last hidden layer after its nonlinearity, one crop; one npz a domain with `x` (float16), `y`, "
    "`classes` and `files`."
)


@dataclass(frozen=True)
class Address:
    """Where a file can be downloaded, the checksum of what lies there, where known, and whether anybody here has."""

    url: str
    sha256: str | None = None
    tried: bool = False


@dataclass(frozen=True)
class File:
    """A file of a data set; `sha256` lists the versions known to be right, and is empty where none was seen."""

    name: str
    sha256: tuple[str, ...] = ()
    addresses: tuple[Address, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A data set of the registry.

    `domains` gives each domain's long name under its short one. `files` are read, by `read`; where one is missing it is
    looked for inside `archives`. An entry without files is made by `make`. `rows` and `checksum` are what the content
    must be, whatever files it came in; no checksum is known where the data were never at hand.
    """

    name: str
    title: str
    domains: dict[str, str]
    shape: str
    scaling: tuple[str, ...]
    citation: str
    read: Callable[[dict[str, bytes]], dict[str, Table]] | None = None
    make: Callable[[], Any] | None = None
    files: tuple[File, ...] = ()
    archives: tuple[File, ...] = ()
    rows: dict[str, int] | None = None
    checksum: str | None = None
    homepage: str = ""
    terms: str = ""
    note: str = ""


def _one_file_a_domain(
    names: dict[str, str], read: Callable[[bytes, str], Table]
) -> Callable[[dict[str, bytes]], dict[str, Table]]:
    """A reader of files by the long names of their domains."""
    return lambda files: {domain: read(files[name], name) for domain, name in names.items()}


def _read_amazon_reviews(files: dict[str, bytes]) -> dict[str, Table]:
    (archive,) = files
    return readers.read_reviews(files[archive], archive, ("books", "dvd", "electronics", "kitchen"))


AMAZON = {"B": "books", "D": "dvd", "E": "electronics", "K": "kitchen"}
OFFICE = {"A": "amazon", "D": "dslr", "W": "webcam"}
OFFICE_CALTECH = {"A": "amazon", "C": "caltech10", "D": "dslr", "W": "webcam"}
TESTBED = {"C": "caltech256", "I": "imagenet", "S": "sun"}
AMAZON_400_FILES = {d: f"{d[:4] if d == 'electronics' else d}_400.mat" for d in AMAZON.values()}
SURF_FILES = {d: f"{'Caltech10' if d == 'caltech10' else d}_SURF_L10.mat" for d in OFFICE_CALTECH.values()}
DECAF_FILES = {d: f"{d}_fc7.mat" for d in OFFICE.values()}
TESTBED_FILES = {d: f"dense_{d}_decaf7_subsampled.mat" for d in TESTBED.values()}

SENTIMENT = "J. Blitzer, M. Dredze, F. Pereira, Biographies, Bollywood, Boom-boxes and Blenders, ACL 2007."
LANDMARKS = "B. Gong, K. Grauman, F. Sha, Connecting the Dots with Landmarks, ICML 2013; after Blitzer et al. 2007."
GEODESIC = "B. Gong, Y. Shi, F. Sha, K. Grauman, Geodesic Flow Kernel for Unsupervised Domain Adaptation, CVPR 2012."
OFFICE_PAPER = "K. Saenko, B. Kulis, M. Fritz, T. Darrell, Adapting Visual Category Models to New Domains, ECCV 2010."
TESTBED_PAPER = "T. Tommasi, T. Tuytelaars, A Testbed for Cross-Dataset Analysis, ECCV 2014 workshops."

ENTRIES = (
    Entry(
        name="amazon-reviews",
        title="Amazon reviews, all words and pairs of words",
        domains=AMAZON,
        shape="8000 x 473 856, sparse, 2 classes",
        scaling=("joint-std",),
        citation=SENTIMENT,
        read=_read_amazon_reviews,
        files=(
            File(
                "processed_acl.tar.gz",
                ("0dbd7d837d3bd22e2dd665e8d1bc39e9e99a981799880c4fe3d301ce03ac3c04",),
                (Address("https://www.cs.jhu.edu/~mdredze/datasets/sentiment/processed_acl.tar.gz"),),
            ),
        ),
        rows={"B": 2000, "D": 2000, "E": 2000, "K": 2000},
        checksum="d18fd83ee2774b225375edee09e8b864ae48a4164bddf420d25440cb007acb49",
        homepage="https://www.cs.jhu.edu/~mdredze/datasets/sentiment/",
        note='The paper speaks of "over 47000" features; its figures are reproduced with all 473 856.',
    ),
    Entry(
        name="amazon-400",
        title="Amazon reviews, 400 words",
        domains=AMAZON,
        shape="7996 x 400, 2 classes",
        scaling=("domain-standard",),
        citation=LANDMARKS,
        read=_one_file_a_domain(AMAZON_400_FILES, readers.read_mat),
        files=(
            File("books_400.mat", ("7a53b54f0c0e81e7ee4774d762a927399cede9a802a2409732ba00cc1c23a17a",)),
            File("dvd_400.mat", ("13a71d399f9c7ae57064952979c830455057ffd0a8da73f2c9075338d64d98ce",)),
            File("elec_400.mat", ("f1dd6e01c1eed956d3abe6493a6bb5efc95e6585b8b9b2d856c0c07e12893a35",)),
            File("kitchen_400.mat", ("b1f4e5ddfbd7b37ad2638fccbf83bd8558abf63b3e8d69a9d5bca77b1a49fed5",)),
        ),
        archives=(
            File(
                "amazon_review.zip",
                addresses=(
                    Address(
                        "https://figshare.com/ndownloader/files/46003500",
                        "a37a9702d44edcc5b6c6a8060f6f61b36f32d9127233ee6951eaf691c08ee4fb",
                    ),
                ),
            ),
        ),
        rows={"B": 2000, "D": 1999, "E": 1998, "K": 1999},
        checksum="9f481b1da8e179792aa4fe741da08610e2a280227cb7ccfda0e99060d9c04636",
        note="The official 20 splits of the standard protocol are not part of it; the benchmark draws its own.",
    ),
    Entry(
        name="office-caltech-surf",
        title="Office-Caltech 10, SURF features",
        domains=OFFICE_CALTECH,
        shape="2533 x 800, 10 classes",
        scaling=("row-sum", "domain-standard"),
        citation=GEODESIC,
        read=_one_file_a_domain(SURF_FILES, readers.read_mat),
        files=(
            File("amazon_SURF_L10.mat", ("df32548b994e18d364c99e1f317e1fae100597259f0423a41b90f4f68187bb1f",)),
            File("Caltech10_SURF_L10.mat", ("4f9334c8ced489d5054de97a5fd51a61f017f3bcd1f38c9a85c6d78cb9d7bda5",)),
            File("dslr_SURF_L10.mat", ("44d673c68e1d07b837893aa74dba3b986e4a6cc3fd66f0dd357683bdef059216",)),
            File("webcam_SURF_L10.mat", ("a6a9c78b4b7181dfbb58bcfd351d4ebd737f171c31247b8884948aa156d3f700",)),
        ),
        archives=(
            File(
                "GFK_v1.zip",
                addresses=(Address("http://www-scf.usc.edu/~boqinggo/domain_adaptation/GFK_v1.zip"),),
            ),
        ),
        rows={"A": 958, "C": 1123, "D": 157, "W": 295},
        checksum="15ce4ca060438de9987f0ab361150b2ee6c896e67dbaa4e74045be0fe57dd092",
        homepage="http://www-scf.usc.edu/~boqinggo/domainadaptation.html",
        terms=IMAGES,
    ),
    Entry(
        name="office-caltech-resnet50",
        title="Office-Caltech 10, ResNet-50 features",
        domains=OFFICE_CALTECH,
        shape="2533 x 2048, 10 classes",
        scaling=("rectify", "joint-std"),
        citation=GEODESIC,
        read=_one_file_a_domain({d: f"{d}.npz" for d in OFFICE_CALTECH.values()}, readers.read_npz),
        files=(
            File("amazon.npz", ("d3587db84d0ad62a105acaf633e8c5a436e206349ea28429228eccdca1af7244",)),
            File("caltech10.npz", ("2c44e1ccde331885a805b4881d6a5f4f53d8f284b4f334c904f51b5201efae75",)),
            File("dslr.npz", ("1f54af75d2dd79a69bb6849f44d333a110ca1cbfdf27020253848f3e18ae866b",)),
            File("webcam.npz", ("24c3108737a1827f2500735edc65c11d1f884f353b657e2406aa13076cbf2e0e",)),
        ),
        rows={"A": 958, "C": 1123, "D": 157, "W": 295},
        checksum="879182f01e86295543228ab9fcd4ab954b5be443137c4c8fb8c57198e3988be6",
        terms=IMAGES,
        note=KERAS,
    ),
    Entry(
        name="office-31-resnet50",
        title="Office-31, ResNet-50 features",
        domains=OFFICE,
        shape="4110 x 2048, 31 classes",
        scaling=("rectify", "joint-std"),
        citation=OFFICE_PAPER,
        read=_one_file_a_domain({d: f"{d}.npz" for d in OFFICE.values()}, readers.read_npz),
        files=(
            File("amazon.npz", ("7e16693e48065a8a2c37321167b919ee729adba2e90dec17b5e37aa178c15a8a",)),
            File("dslr.npz", ("bace0f6b590ac955264d5dd22a1531d3d6c4e399fd4d27dc261c93bd6802f428",)),
            File("webcam.npz", ("7baadb0198125fb80a6cd58bb1c63ea62f4f1b3453ad8e3dd202e4f35af66a4f",)),
        ),
        rows={"A": 2817, "D": 498, "W": 795},
        checksum="94b9ec8f465e53a1d8be958131c003496e8809b45b05a83f458255c2e958343e",
        terms=IMAGES,
        note=KERAS,
    ),
    Entry(
        name="office-31-decaf",
        title="Office-31, DeCAF fc7 features",
        domains=OFFICE,
        shape="4096 features, 31 classes",
        scaling=("domain-standard",),
        citation=f"{OFFICE_PAPER} Features: {TESTBED_PAPER}",
        read=_one_file_a_domain(DECAF_FILES, readers.read_mat),
        files=tuple(File(name) for name in DECAF_FILES.values()),
        homepage="https://sites.google.com/site/crossdataset/home/files",
        terms=IMAGES,
        note="Never at hand: read from MATLAB files with `fts` and `labels`, and tested on small files of that form.",
    ),
    Entry(
        name="cross-dataset-testbed",
        title="Cross-Dataset Testbed, dense setup, DeCAF fc7 features",
        domains=TESTBED,
        shape="10 473 x 4096, 40 classes",
        scaling=("domain-standard",),
        citation=TESTBED_PAPER,
        read=_one_file_a_domain(TESTBED_FILES, readers.read_mat),
        files=tuple(File(name) for name in TESTBED_FILES.values()),
        homepage="https://sites.google.com/site/crossdataset/home/files",
        rows={"C": 3847, "I": 4000, "S": 2626},
        terms=IMAGES,
        note="Never at hand: read from MATLAB files with `fts` and `labels`, and tested on small files of that form.",
    ),
    Entry(
        name="digits-shift",
        title="Handwritten digits through another camera",
        domains={"S": "source", "T": "target"},
        shape="1797 x 64, 10 classes",
        scaling=(),
        citation="E. Alpaydin, C. Kaynak, Optical Recognition of Handwritten Digits, UCI 1998; by scikit-learn.",
        make=load_digits_shift,
    ),
    Entry(
        name="rotated-arcs",
        title="The paper's toy: arcs, and the same arcs rotated",
        domains={"S": "source", "T": "target"},
        shape="200 x 2, 2 classes",
        scaling=(),
        citation="T. van Laarhoven, E. Marchiori, Domain Adaptation with Randomized Expectation Maximization, 2018.",
        make=lambda: make_rotated_arcs(random_state=0),
    ),
)

REGISTRY = {entry.name: entry for entry in ENTRIES}


def find_entry(name: str) -> Entry:
    """The entry of a name, or an error that lists the names."""
    if name not in REGISTRY:
        raise ValueError(f"There is no data set {name!r}; known are {', '.join(REGISTRY)}.")
    return REGISTRY[name]
