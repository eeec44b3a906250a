"""The known data sets: files, checksums, addresses, and how they are read and scaled.

An address is `tried` once a download from it gave the expected bytes. None has been tried so far; the addresses are
those stated by the owners, or by libraries that mirror them.
"""

from __future__ import annotations

from collections.abc import Callable

from adrem.datasets.digits import load_digits_shift
from adrem.datasets.pair import DomainPair
from adrem.datasets.reviews import read_review_texts, read_reviews
from adrem.datasets.simulated import SEEDS, SHIFTS, make_shift
from adrem.datasets.spec import Address, DataSetSpec, File, one_file_per_domain
from adrem.datasets.toy import make_rotated_arcs
from adrem.datasets.uci import heart_reader, read_mushrooms, read_phishing, read_sensors
from adrem.exceptions import ParameterError
from adrem.files.labelled_rows import Table
from adrem.files.mat import read_mat
from adrem.files.npz import read_npz

__all__ = ["DATA_SETS", "REGISTRY", "Address", "DataSetSpec", "File", "find_spec", "one_file_per_domain"]

IMAGES = "Image features, for research use by the terms of the images' owners."
KERAS = (
    "No public address is known. To make the files: ResNet-50 with the ImageNet weights that Keras ships, images "
    "scaled to 224 x 224, the last hidden layer after its nonlinearity, one crop; one npz per domain with `x` "
    "(float16), `y`, `classes` and `files`."
)


def _read_amazon_reviews(files: dict[str, bytes]) -> dict[str, Table]:
    (archive,) = files
    return read_reviews(files[archive], archive, ("books", "dvd", "electronics", "kitchen"))


def _one_file(
    name: str, read: Callable[[bytes, str], dict[str, Table]]
) -> Callable[[dict[str, bytes]], dict[str, Table]]:
    return lambda files: read(files[name], name)


def _tables(pair: DomainPair) -> dict[str, Table]:
    return {"source": Table(pair.X_source, pair.y_source), "target": Table(pair.X_target, pair.y_target)}


AMAZON = {"B": "books", "D": "dvd", "E": "electronics", "K": "kitchen"}
OFFICE = {"A": "amazon", "D": "dslr", "W": "webcam"}
OFFICE_CALTECH = {"A": "amazon", "C": "caltech10", "D": "dslr", "W": "webcam"}
TESTBED = {"C": "caltech256", "I": "imagenet", "S": "sun"}
AMAZON_400_FILES = {d: f"{d[:4] if d == 'electronics' else d}_400.mat" for d in AMAZON.values()}
SURF_FILES = {d: f"{'Caltech10' if d == 'caltech10' else d}_SURF_L10.mat" for d in OFFICE_CALTECH.values()}
DECAF_FILES = {d: f"{d}_fc7.mat" for d in OFFICE.values()}
HOSPITALS = {"C": "cleveland", "H": "hungarian", "S": "switzerland", "V": "va"}
BATCHES = {letter: f"batch{letter}" for letter in "12345689"}
HEART_FILES = {name: f"processed.{name}.data" for name in HOSPITALS.values()}
BATCH_FILES = {name: f"{name}.dat.gz" for name in BATCHES.values()}
SIMULATED = {f"{side[0].upper()}{seed}": f"{side}-{seed}" for seed in SEEDS for side in ("source", "target")}
TEXT_FILES = {d: (f"{d}/negative.review.gz", f"{d}/positive.review.gz") for d in AMAZON.values()}
TESTBED_FILES = {d: f"dense_{d}_decaf7_subsampled.mat" for d in TESTBED.values()}

SENTIMENT = "J. Blitzer, M. Dredze, F. Pereira, Biographies, Bollywood, Boom-boxes and Blenders, ACL 2007."
LANDMARKS = "B. Gong, K. Grauman, F. Sha, Connecting the Dots with Landmarks, ICML 2013; after Blitzer et al. 2007."
GEODESIC = "B. Gong, Y. Shi, F. Sha, K. Grauman, Geodesic Flow Kernel for Unsupervised Domain Adaptation, CVPR 2012."
OFFICE_PAPER = "K. Saenko, B. Kulis, M. Fritz, T. Darrell, Adapting Visual Category Models to New Domains, ECCV 2010."
TESTBED_PAPER = "T. Tommasi, T. Tuytelaars, A Testbed for Cross-Dataset Analysis, ECCV 2014 workshops."
SKADA_BENCH = (
    "Y. Lalou et al., SKADA-Bench: Benchmarking Unsupervised Domain Adaptation Methods with Realistic Validation On "
    "Diverse Modalities, TMLR 2025."
)
UCI = "https://archive.ics.uci.edu"
OPEN = "CC BY 4.0."
SIMULATED_SHAPES = {"subspace": "5 x 2400 x 2, 2 classes"}


def _simulated(kind: str) -> DataSetSpec:
    return DataSetSpec(
        name=f"simulated-{kind}",
        title=f"Simulated {kind} shift of SKADA-Bench, five draws",
        domains=SIMULATED,
        shape=SIMULATED_SHAPES.get(kind, "5 x 1600 x 2, 2 classes"),
        scaling=(),
        citation=SKADA_BENCH,
        make=lambda: make_shift(kind),
        needs="skada",
    )


DATA_SETS = (
    DataSetSpec(
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
        note='The paper mentions "over 47000" features; its figures are reproduced with all 473 856.',
    ),
    DataSetSpec(
        name="amazon-400",
        title="Amazon reviews, 400 words",
        domains=AMAZON,
        shape="7996 x 400, 2 classes",
        scaling=("domain-standard",),
        citation=LANDMARKS,
        read=one_file_per_domain(AMAZON_400_FILES, read_mat),
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
        note="The official 20 splits of the standard protocol are not included; the benchmark draws its own.",
    ),
    DataSetSpec(
        name="office-caltech-surf",
        title="Office-Caltech 10, SURF features",
        domains=OFFICE_CALTECH,
        shape="2533 x 800, 10 classes",
        scaling=("row-sum", "domain-standard"),
        citation=GEODESIC,
        read=one_file_per_domain(SURF_FILES, read_mat),
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
    DataSetSpec(
        name="office-caltech-resnet50",
        title="Office-Caltech 10, ResNet-50 features",
        domains=OFFICE_CALTECH,
        shape="2533 x 2048, 10 classes",
        scaling=("rectify", "joint-std"),
        citation=GEODESIC,
        read=one_file_per_domain({d: f"{d}.npz" for d in OFFICE_CALTECH.values()}, read_npz),
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
    DataSetSpec(
        name="office-31-resnet50",
        title="Office-31, ResNet-50 features",
        domains=OFFICE,
        shape="4110 x 2048, 31 classes",
        scaling=("rectify", "joint-std"),
        citation=OFFICE_PAPER,
        read=one_file_per_domain({d: f"{d}.npz" for d in OFFICE.values()}, read_npz),
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
    DataSetSpec(
        name="office-31-decaf",
        title="Office-31, DeCAF fc7 features",
        domains=OFFICE,
        shape="4096 features, 31 classes",
        scaling=("domain-standard",),
        citation=f"{OFFICE_PAPER} Features: {TESTBED_PAPER}",
        read=one_file_per_domain(DECAF_FILES, read_mat),
        files=tuple(File(name) for name in DECAF_FILES.values()),
        homepage="https://sites.google.com/site/crossdataset/home/files",
        terms=IMAGES,
        note="Never available here; tested on small MATLAB files with `fts` and `labels`.",
    ),
    DataSetSpec(
        name="cross-dataset-testbed",
        title="Cross-Dataset Testbed, dense setup, DeCAF fc7 features",
        domains=TESTBED,
        shape="10 473 x 4096, 40 classes",
        scaling=("domain-standard",),
        citation=TESTBED_PAPER,
        read=one_file_per_domain(TESTBED_FILES, read_mat),
        files=tuple(File(name) for name in TESTBED_FILES.values()),
        homepage="https://sites.google.com/site/crossdataset/home/files",
        rows={"C": 3847, "I": 4000, "S": 2626},
        terms=IMAGES,
        note="Never available here; tested on small MATLAB files with `fts` and `labels`.",
    ),
    DataSetSpec(
        name="amazon-text",
        title="Amazon reviews, words counted in the raw text",
        domains=AMAZON,
        shape="8000 x 39177, sparse, 2 classes",
        scaling=("joint-std",),
        citation=SENTIMENT,
        read=read_review_texts(TEXT_FILES),
        files=(
            File("books/negative.review.gz", ("527bb277ca90b0415ff8fa9b684b489e26246f9b9c52fbfd12492370dd23926e",)),
            File("books/positive.review.gz", ("3c0aeb138b7a683b69c9340801f7409f692ff3f28a74592620eea0ffb89d8cb0",)),
            File("dvd/negative.review.gz", ("682c3faf6653c0eb2ff567774b7f8363dc1d45dacb1ee8ecf74ba434779f3eea",)),
            File("dvd/positive.review.gz", ("44b0d6a5a9c8f40d57076beea7a7f7bd63c05e7b2adfb84da9d16d7febbd614e",)),
            File(
                "electronics/negative.review.gz", ("f6414b855b28f730f7fdf00606486debbf16975abe624b600c9a9d004e4304dc",)
            ),
            File(
                "electronics/positive.review.gz", ("b512d17042666e5e2dfaeb06b29e8e6fad4d52178858857e6080fc0e5721d574",)
            ),
            File("kitchen/negative.review.gz", ("5e0190187239c1d7007a33d2d21a8392c072a22c6af3abdd87c36a50750a631a",)),
            File("kitchen/positive.review.gz", ("e1fe187a8a3ad992888a98bca4d51538f4d7fef18aa050dde21b5aceb326c1e0",)),
        ),
        rows={"B": 2000, "D": 2000, "E": 2000, "K": 2000},
        checksum="bcc9d39aedb9a59eba2afe355afb375eca7770537b58b707ba16766b2c426061",
        homepage="https://www.cs.jhu.edu/~mdredze/datasets/sentiment/",
        terms="For research use.",
    ),
    DataSetSpec(
        name="mushrooms",
        title="Edible or poisonous mushrooms, by the shape of the stalk",
        domains={"E": "enlarging", "T": "tapering"},
        shape="8124 x 117, 2 classes",
        scaling=(),
        citation="Mushroom, UCI Machine Learning Repository 1981, doi:10.24432/C5959T.",
        read=_one_file("agaricus-lepiota.data", read_mushrooms),
        files=(
            File(
                "agaricus-lepiota.data",
                ("126abef844f76d8484681851a7d02e09e52dc0c6594fc49f1bc7854397c5ebda",),
                (Address(f"{UCI}/ml/machine-learning-databases/mushroom/agaricus-lepiota.data"),),
            ),
        ),
        rows={"E": 3516, "T": 4608},
        checksum="c4cf5a427ec067cf2c991fc535f056d541f08734c45fb9ed74d7089ca085235f",
        homepage=f"{UCI}/dataset/73/mushroom",
        terms=OPEN,
    ),
    DataSetSpec(
        name="phishing",
        title="Phishing websites, by whether the address is a number",
        domains={"I": "ip-address", "N": "no-ip-address"},
        shape="11 055 x 30, 2 classes",
        scaling=(),
        citation="R. Mohammad, L. McCluskey, Phishing Websites, UCI 2012, doi:10.24432/C51W2X.",
        read=_one_file("TrainingDataset.arff", read_phishing),
        files=(File("TrainingDataset.arff", ("b96b4f75c0a6eaaf4a51b118438ab4cf211e1f0e4989e1c7f155bd6a2b90893f",)),),
        rows={"I": 7262, "N": 3793},
        checksum="b53f0cb73b69976a4197133117abc9d9f9d051cb3411af4e2e3b8954120192d8",
        homepage=f"{UCI}/dataset/327/phishing+websites",
        terms=OPEN,
    ),
    DataSetSpec(
        name="heart-disease",
        title="Heart disease at four hospitals",
        domains=HOSPITALS,
        shape="920 x 22, 2 classes",
        scaling=("joint-standard",),
        citation="A. Janosi, W. Steinbrunn, M. Pfisterer, R. Detrano, Heart Disease, UCI 1989, doi:10.24432/C52P4X.",
        read=heart_reader(HEART_FILES),
        files=(
            File(
                "processed.cleveland.data",
                ("a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8",),
                (Address(f"{UCI}/ml/machine-learning-databases/heart-disease/processed.cleveland.data"),),
            ),
            File(
                "processed.hungarian.data",
                ("5d878c622cacb53ae169b4f353ff8fa601737fae5dedc438aff0e7fba17e5137",),
                (Address(f"{UCI}/ml/machine-learning-databases/heart-disease/processed.hungarian.data"),),
            ),
            File(
                "processed.switzerland.data",
                ("834a405ccf5b66ab4056bb77794adc8df0b7125186454c0a1d002d33c6c3b314",),
                (Address(f"{UCI}/ml/machine-learning-databases/heart-disease/processed.switzerland.data"),),
            ),
            File(
                "processed.va.data",
                ("e7c93d8d0d2acdadfa4c5e8de768e2191e7f618b952e29623f1f0d5949ff6b8f",),
                (Address(f"{UCI}/ml/machine-learning-databases/heart-disease/processed.va.data"),),
            ),
        ),
        rows={"C": 303, "H": 294, "S": 123, "V": 200},
        checksum="ec9743dcf8c534f70c2c1d5685767f5d3bcf49adcf63bea15c62e09e525a57b3",
        homepage=f"{UCI}/dataset/45/heart+disease",
        terms=OPEN,
        note="A missing number is the median of its column over all hospitals; a missing code has no column.",
    ),
    DataSetSpec(
        name="gas-sensor-drift",
        title="Six gases, measured by sensors that drift for three years",
        domains=BATCHES,
        shape="6697 x 128, 6 classes",
        scaling=("joint-standard",),
        citation="A. Vergara et al., Chemical Gas Sensor Drift Compensation Using Classifier Ensembles, Sensors and "
        "Actuators B 166, 2012.",
        read=one_file_per_domain(BATCH_FILES, read_sensors),
        files=(
            File("batch1.dat.gz", ("fe92b3cca120349e461ea069ec644e4cb387c1c958ee86a460b874123327fe5c",)),
            File("batch2.dat.gz", ("b4d7f5cbb357137bd0a2ac61ab0122f90a77a6c4781747589f474d1c48ff843b",)),
            File("batch3.dat.gz", ("db1f5667dcbc066f91a031431f5f20976fb8447e969f5985958f039d3b8cdd34",)),
            File("batch4.dat.gz", ("785225175769ec5700d21ad10aef9b954ce939cfce0085691dd31011fdeb9638",)),
            File("batch5.dat.gz", ("a1d324164273ffa61c24b29fca968ee520e0dc251642abda6cc3d4aa9a49ce66",)),
            File("batch6.dat.gz", ("f4818cee22b2354da4d1887766c7bdce78e6f12f2bfecacf4523f68074705ce0",)),
            File("batch8.dat.gz", ("1db190ac8faac4b1a87f68b0e95134c91fbbccbfe07502f13848e26e108a9d19",)),
            File("batch9.dat.gz", ("5b23f2cc85b3f0ef6086c877a67b5d3c1277add86a2b919734669ac48d613687",)),
        ),
        rows={"1": 445, "2": 1244, "3": 1586, "4": 161, "5": 197, "6": 2300, "8": 294, "9": 470},
        checksum="940896594c0c3c5b87c84f6194aaadfb9cadb8aa644d3d6bbb57124e0861479f",
        homepage=f"{UCI}/dataset/224/gas+sensor+array+drift+dataset",
        terms=OPEN,
        note="Batches 7 and 10 are left out. Class 6 is absent from batches 3, 4 and 5.",
    ),
    *(_simulated(kind) for kind in SHIFTS),
    DataSetSpec(
        name="digits-shift",
        title="Handwritten digits through another camera",
        domains={"S": "source", "T": "target"},
        shape="1797 x 64, 10 classes",
        scaling=(),
        citation="E. Alpaydin, C. Kaynak, Optical Recognition of Handwritten Digits, UCI 1998; by scikit-learn.",
        make=lambda: _tables(load_digits_shift()),
    ),
    DataSetSpec(
        name="rotated-arcs",
        title="The paper's toy: arcs, and the same arcs rotated",
        domains={"S": "source", "T": "target"},
        shape="200 x 2, 2 classes",
        scaling=(),
        citation="T. van Laarhoven, E. Marchiori, Domain Adaptation with Randomized Expectation Maximization, 2018.",
        make=lambda: _tables(make_rotated_arcs(random_state=0)),
    ),
)

REGISTRY = {spec.name: spec for spec in DATA_SETS}


def find_spec(name: str) -> DataSetSpec:
    """Return the specification of a data set."""
    if name not in REGISTRY:
        raise ParameterError(f"There is no data set {name!r}; the known ones are {', '.join(REGISTRY)}.", "name")
    return REGISTRY[name]
