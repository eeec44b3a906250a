"""Tests of the server of the labelling page: what it keeps, and whom it refuses."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from starlette.testclient import TestClient

from adrem import AdREM
from adrem.columns import FileTable, make_pair
from adrem.columns.labelling import label_pair
from adrem.exceptions import InvalidDataError, ParameterError
from adrem.labelling.answers import Answers
from adrem.labelling.desk import Desk
from adrem.labelling.journal import Entry, Journal
from adrem.labelling.project import Adapted, Project
from adrem.labelling.server import listen, make_app, make_server

PORT, TOKEN = 8765, "the-token"
HOME = f"http://127.0.0.1:{PORT}"
MARKUP = "<script>alert(1)</script>"


def table(name: str, n: int, seed: int, shift: float, apart: float = 3.0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    kinds = np.arange(n) % 3
    places = rng.normal(size=(n, 3)) + apart * np.eye(3)[kinds] + shift
    columns = {f"x{k}": places[:, k] for k in range(3)}
    names = np.array(["apple", "pear", MARKUP])[kinds]
    return pl.DataFrame({"id": [f"{name}{k}" for k in range(n)], **columns, "kind": names})


class Remembered(Project):
    """A project that fits a model to the same labels once."""

    found: ClassVar[dict[Any, Adapted]] = {}

    def adapt(self, labels: dict[int, Any]) -> Adapted:
        key = self.identifier, self.pair.X_target.tobytes(), frozenset(labels.items())
        if key not in self.found:
            self.found[key] = super().adapt(labels)
        return self.found[key]


class Sure(Remembered):
    """A project whose model gives each label a share of exactly 1, as a committee that agrees."""

    def adapt(self, labels: dict[int, Any]) -> Adapted:
        found = super().adapt(labels)
        return replace(found, shares=np.eye(len(self.classes))[found.labels])


def new_model() -> AdREM:
    return AdREM(C=0.1, n_estimators=2, n_iter=3, random_state=0)


def make_project(identifier: str | None = "id", apart: float = 3.0, kind: type[Project] = Remembered) -> Project:
    source, target = table("old", 90, 0, 0.0, apart), table("new", 120, 1, 0.4, apart).drop("kind")
    target = target.with_columns(note=pl.lit(MARKUP))
    pair = make_pair(
        FileTable("old.csv", "1", source), FileTable("new.csv", "2", target), label="kind", left_out=["id"]
    )
    about = {"label": "kind", "seed": 0}

    def write_names(adapted: Adapted, given: dict[int, Any], path: Path) -> None:
        found = label_pair(adapted.bundle, adapted.pair, adapted.examined, given)
        pl.DataFrame({"label": found.label, "confidence": found.confidence}).write_csv(path)

    return kind(pair, new_model, about, identifier, {"labels.csv": write_names})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def desk(folder: Path) -> Iterator[Desk]:
    with Journal(folder / "answers.jsonl", {}) as journal:
        yield Desk(make_project(), journal)


def client_of(desk: Desk, folder: Path) -> TestClient:
    app = make_app(desk, folder, token=TOKEN, port=PORT)
    return TestClient(app, base_url=f"{HOME}/{TOKEN}/", headers={"Origin": HOME})


@pytest.fixture
def client(desk: Desk, folder: Path) -> TestClient:
    return client_of(desk, folder)


def answer(client: TestClient, row: int, label: str | None = "pear", kind: str = "label") -> dict[str, Any]:
    given = client.post("answer", json={"kind": kind, "row": row, "label": label})
    assert given.status_code == 200, given.text
    found: dict[str, Any] = given.json()
    return found


def test_an_answer_is_in_the_journal_when_the_next_row_comes(client: TestClient, folder: Path) -> None:
    first = client.get("state").json()
    assert first["classes"] == [MARKUP, "apple", "pear"]
    second = answer(client, first["row"]["row"])
    assert second["row"]["row"] != first["row"]["row"]
    assert second["answered"] == 1
    assert second["back"] == first["row"]["row"]
    kept = json.loads((folder / "answers.jsonl").read_text().splitlines()[-1])
    assert kept == {"kind": "label", "row": first["row"]["row"], "label": "pear"}


def test_two_windows_keep_both_answers_and_are_told_of_each_other(client: TestClient, folder: Path) -> None:
    row = client.get("state").json()["row"]["row"]
    assert answer(client, row, "pear")["replaced"] is None
    assert answer(client, row, "apple")["replaced"] == "pear"
    assert [json.loads(line)["label"] for line in (folder / "answers.jsonl").read_text().splitlines()[1:]] == [
        "pear",
        "apple",
    ]
    undone = client.post("undo", json={}).json()
    assert undone["row"]["row"] == row
    assert undone["row"]["answer"]["label"] == "pear"


def test_answers_at_the_same_time_are_all_kept(client: TestClient, desk: Desk, folder: Path) -> None:
    threads = [threading.Thread(target=desk.answer, args=("none", row)) for row in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = [json.loads(line)["row"] for line in (folder / "answers.jsonl").read_text().splitlines()[1:]]
    assert sorted(rows) == [*range(60)]
    assert client.get("state").json()["answered"] == 60


def test_the_estimate_counts_the_random_rows_alone(client: TestClient) -> None:
    state = client.get("state").json()
    checks = []
    for _ in range(30):
        row = state["row"]
        if row["is_check"]:
            checks.append(row["order"][0])
        state = answer(client, row["row"], state["classes"][row["order"][0]])  # the guess is right
    estimate = state["estimate"]
    assert estimate["n_labels"] == len(checks) == 10
    assert estimate["accuracy"] == pytest.approx(1.0)
    assert 0.6 < estimate["low"] < 0.8
    assert state["work"]["waiting"] == 20


def test_a_model_that_is_sure_and_always_right_can_be_labelled_on(folder: Path) -> None:
    """The bounds of the estimate are numbers, or nothing could be answered any more."""
    with Journal(folder / "answers.jsonl", {}) as journal:
        desk = Desk(make_project(apart=30.0, kind=Sure), journal)
        client = client_of(desk, folder)
        state = client.get("state").json()
        for _ in range(45):
            state = answer(client, state["row"]["row"], state["classes"][state["row"]["order"][0]])
    assert state["estimate"]["accuracy"] == pytest.approx(1.0)
    assert state["estimate"]["high"] == 1.0
    assert state["estimate"]["low"] > 0.75


def test_the_estimate_is_for_the_rows_that_were_not_learnt(client: TestClient, desk: Desk) -> None:
    """If all rows but the checks were learnt, and all checks answered, no doubt is left."""
    labels = desk.adapted()[0].labels
    classes = client.get("state").json()["classes"]
    for row in range(120):
        desk.answer("label", row, classes[(int(labels[row]) + (row % 4 == 0)) % 3])
    assert desk.state()["estimate"]["low"] < desk.state()["estimate"]["high"]
    client.post("adapt", json={})
    while client.get("state").json()["work"]["running"]:
        time.sleep(0.05)
    state = client.get("state").json()
    assert state["work"]["learnt"] == state["estimate"]["n_labels"] == 60
    assert state["estimate"]["low"] == state["estimate"]["accuracy"] == state["estimate"]["high"] < 0.9


def test_none_of_these_is_an_error_and_no_label(client: TestClient, desk: Desk) -> None:
    state = client.get("state").json()
    for _ in range(9):
        state = answer(client, state["row"]["row"], None, "none")
    assert state["estimate"]["accuracy"] == 0.0
    assert state["work"]["waiting"] == 0
    assert desk.adapted()[1] == {}


def test_adapting_again_learns_from_the_answers_but_not_from_the_checks(client: TestClient, desk: Desk) -> None:
    state = client.get("state").json()
    rows = []
    for _ in range(9):
        rows.append(state["row"])
        state = answer(client, state["row"]["row"], "apple")
    shown = state["row"]["row"]
    begun = client.post("adapt", json={"row": shown}).json()
    assert begun["row"]["row"] == shown
    while client.get("state").json()["work"]["running"]:
        time.sleep(0.05)
    work = client.get("state").json()["work"]
    assert (work["round"], work["learnt"], work["waiting"], work["problem"]) == (2, 6, 0, "")
    known = desk.adapted()[0].pair.known
    assert known is not None
    assert sorted(np.flatnonzero(known == "apple")) == sorted(row["row"] for row in rows if not row["is_check"])


def test_a_failed_fit_is_told_and_the_page_goes_on(client: TestClient, desk: Desk) -> None:
    def fail(_: Any) -> None:
        raise MemoryError("no room")

    object.__setattr__(desk.project, "adapt", fail)
    client.post("adapt", json={})
    while client.get("state").json()["work"]["running"]:
        time.sleep(0.05)
    state = client.get("state").json()
    assert state["work"]["problem"] == "no room"
    answer(client, state["row"]["row"])


def test_answers_go_on_after_a_restart(client: TestClient, folder: Path) -> None:
    state = client.get("state").json()
    for _ in range(5):
        state = answer(client, state["row"]["row"])
    copy = folder / "copy.jsonl"
    copy.write_bytes((folder / "answers.jsonl").read_bytes())
    with Journal(copy, {}) as journal:
        again = Desk(make_project(), journal).state()
    assert again["answered"] == 5
    assert again["work"]["learnt"] == 4
    assert again["row"]["is_check"] == state["row"]["is_check"]


@pytest.mark.parametrize("entry", [Entry("label", 3, "no class"), Entry("none", 120)])
def test_an_answer_of_the_journal_that_does_not_fit_is_named(folder: Path, entry: Entry) -> None:
    with Journal(folder / "answers.jsonl", {}) as journal:
        journal.append(entry)
        with pytest.raises(InvalidDataError, match="does not fit"):
            Desk(make_project(), journal)


@pytest.mark.parametrize("identifier", ["id", None])
def test_the_exported_labels_are_read_by_known(folder: Path, identifier: str | None) -> None:
    with Journal(folder / "answers.jsonl", {}) as journal:
        desk = Desk(make_project(identifier), journal)
        client = client_of(desk, folder)
        for row, label in ((3, "pear"), (7, MARKUP)):
            answer(client, row, label)
        sent = client.get("export/labelled.csv")
    assert "attachment" in sent.headers["content-disposition"]
    frame = pl.read_csv(sent.content)
    source = FileTable("old.csv", "1", table("old", 90, 0, 0.0))
    if identifier is None:
        pair = make_pair(source, FileTable("new.csv", "2", frame), label="kind", left_out=["id"])
    else:
        target = FileTable("new.csv", "2", table("new", 120, 1, 0.4).drop("kind"))
        known = FileTable("labelled.csv", "3", frame)
        pair = make_pair(source, target, label="kind", left_out=["id"], known=known, identifier="id")
    assert pair.known is not None
    assert {row: label for row, label in enumerate(pair.known.tolist()) if label is not None} == {3: "pear", 7: MARKUP}


def test_what_a_person_labelled_keeps_its_label_in_the_labels_of_all_rows(client: TestClient, desk: Desk) -> None:
    guesses = desk.adapted()[0].bundle.model.classes_[desk.adapted()[0].labels]
    given = {row: "pear" if guesses[row] == "apple" else "apple" for row in range(0, 120, 7)}  # checks, and others
    for row, label in given.items():
        answer(client, row, label)
    frame = pl.read_csv(client.get("export/labels.csv").content)
    assert {row: frame["label"][row] for row in given} == given
    assert all(frame["confidence"][row] == 1.0 for row in given)
    assert (frame["label"].to_numpy() != guesses).sum() == len(given)


def test_columns_of_lists_are_left_out_of_the_exported_labels(client: TestClient, desk: Desk) -> None:
    project = desk.project
    assert project.pair.frames is not None
    target = project.pair.frames[1].with_columns(words=pl.Series([["a", "b"]] * 120))
    pair = replace(project.pair, frames=(project.pair.frames[0], target))
    object.__setattr__(desk, "project", replace(project, pair=pair, identifier=None))
    answer(client, 3)
    sent = client.get("export/labelled.csv")
    assert sent.status_code == 200
    frame = pl.read_csv(sent.content)
    assert frame.columns == ["id", "x0", "x1", "x2", "note", "kind"]
    assert frame["kind"][3] == "pear"
    with pytest.raises(ParameterError, match="lists"):
        replace(project, pair=pair, identifier="words")


def test_an_export_of_bad_data_is_refused_and_one_without_room_too(client: TestClient, desk: Desk) -> None:
    for error, status in ((InvalidDataError("no"), 400), (OSError(28, "No space"), 507)):

        def fail(*_: Any, error: Exception = error) -> None:
            raise error

        desk.project.exports["report.html"] = fail
        assert client.get("export/report.html").status_code == status


def test_exports_are_written_to_the_folder(client: TestClient, folder: Path) -> None:
    assert client.get("export/labels.csv").text == (folder / "labels.csv").read_text()
    for name in ("answers.jsonl", "..%2Fanswers.jsonl", "nothing.csv"):
        assert client.get(f"export/{name}").status_code == 404


@pytest.mark.parametrize("host", ["evil.example", f"127.0.0.1:{PORT + 1}", "127.0.0.1", "", f"evil.example:{PORT}"])
def test_another_host_is_refused(client: TestClient, host: str) -> None:
    assert client.get("state", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", f"https://127.0.0.1:{PORT}", f"{HOME}.evil.example"])
def test_another_origin_is_refused(client: TestClient, folder: Path, origin: str) -> None:
    sent = {"kind": "none", "row": 1}
    for method, path in (("POST", "answer"), ("POST", "adapt"), ("GET", "state")):
        assert client.request(method, path, json=sent, headers={"Origin": origin}).status_code == 403
    assert client.get("state", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert len((folder / "answers.jsonl").read_text().splitlines()) == 1


def test_without_an_origin_nothing_is_changed(desk: Desk, folder: Path) -> None:
    client = TestClient(make_app(desk, folder, token=TOKEN, port=PORT), base_url=f"{HOME}/{TOKEN}/")
    assert client.get("state").status_code == 200
    assert client.post("answer", json={"kind": "none", "row": 1}).status_code == 403


@pytest.mark.parametrize(
    "path", ["/", "/state", "/wrong/state", f"/{TOKEN}x/state", "/favicon.ico", f"//{TOKEN}/state"]
)
def test_without_the_token_nothing_is_told(client: TestClient, path: str) -> None:
    found = client.get(f"{HOME}{path}")
    assert found.status_code == 404
    assert "classes" not in found.text


@pytest.mark.parametrize(
    "sent",
    [
        {"kind": "label", "row": 0, "label": "no class"},
        {"kind": "label", "row": 0},
        {"kind": "undo", "row": 0},
        {"kind": "none", "row": -1},
        {"kind": "none", "row": 120},
        {"kind": "none", "row": "1"},
        {"kind": "none", "row": True},
        {"kind": ["none"], "row": 1},
        {},
        [1],
    ],
)
def test_an_answer_that_the_page_can_not_send_is_refused(client: TestClient, folder: Path, sent: Any) -> None:
    assert client.post("answer", json=sent).status_code == 400
    assert len((folder / "answers.jsonl").read_text().splitlines()) == 1


def test_other_forms_of_requests_are_refused(client: TestClient) -> None:
    assert client.post("answer", content=b"no json").status_code == 400
    assert client.post("answer", content=b"x" * 100_000).status_code == 413
    assert client.post("answer", content=iter([b"{}"])).status_code == 413  # of unknown length
    assert client.get("answer").status_code == 405
    assert client.get("state?row=abc").status_code == 400
    assert client.get("picture/0").status_code == 404


def test_the_address_that_is_given_to_the_browser_is_of_use_once(desk: Desk, folder: Path) -> None:
    """Others can see it in the list of processes; the token is only in the reply."""
    client = TestClient(make_app(desk, folder, token=TOKEN, port=PORT, once="for-once"), base_url=HOME)
    for path in ("/for-onc/", "//", "/for-once/state"):
        assert client.get(path).status_code == 404
    assert client.get("/for-once/", headers={"Host": "evil.example"}).status_code == 421
    first = client.get("/for-once/", follow_redirects=False)
    assert (first.status_code, first.headers["location"]) == (303, f"/{TOKEN}/")
    for path in ("/for-once/", "//"):
        assert client.get(path).status_code == 404
    assert client.get(f"/{TOKEN}/").status_code == 200


def test_a_chunked_body_is_refused_before_it_is_read(desk: Desk, folder: Path) -> None:
    """Over a socket: a transfer encoding would make the length of the header say nothing."""
    listening = listen(0)
    port, ready = listening.getsockname()[1], threading.Event()
    server = make_server(make_app(desk, folder, token=TOKEN, port=port), ready.set)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        assert ready.wait(10)
        head = f"POST /{TOKEN}/answer HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
        with socket.create_connection(("127.0.0.1", port), timeout=5) as sent:
            sent.sendall(f"{head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
            assert sent.recv(100).startswith(b"HTTP/1.1 413")  # no chunk was sent
    finally:
        server.should_exit = True
        thread.join(10)
    assert not thread.is_alive()


def test_the_page_may_load_nothing_from_elsewhere_and_markup_is_data(client: TestClient) -> None:
    page = client.get("")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in page.text.replace("http-equiv", "")
    script = client.get("page.js").text
    assert not any(word in script for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "http"))
    state = client.get("state")
    assert state.headers["content-type"] == "application/json"
    assert state.headers["x-content-type-options"] == "nosniff"
    assert ["note", MARKUP] in state.json()["row"]["cells"]


def test_a_full_disk_is_told_and_the_answer_can_be_given_again(client: TestClient) -> None:
    def full(_: Any) -> None:
        raise OSError(28, "No space left on device")

    row = client.get("state").json()["row"]["row"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "append", lambda _, entry: full(entry))
        refused = client.post("answer", json={"kind": "none", "row": row})
    assert refused.status_code == 507
    assert "No space" in refused.json()["error"]
    assert client.get("state").json()["row"]["row"] == row
    assert answer(client, row, None, "none")["answered"] == 1


def test_a_thousand_answers_of_a_hundred_thousand_rows_stay_fast(folder: Path) -> None:
    """An answer of a large target after many others takes the time of the first ones, within a factor."""
    with Journal(folder / "many.jsonl", {}) as journal:
        answers = Answers(journal, 100_000)
        answers.suggest(range(100_000))
        spent = []
        for _ in range(1200):
            began = time.process_time()
            row = answers.next()
            assert row is not None
            answers.add(Entry("none", row))
            answers.beside(row)
            spent.append(time.process_time() - began)
    assert np.median(spent[-200:]) < 20 * np.median(spent[:200]) + 1e-3
