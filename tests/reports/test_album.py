"""The pictures on a page: each once, only where they are shown, and no more than fit."""

from __future__ import annotations

import base64
import re

import pytest
from problems import make_blobs_shift

import adrem
from adrem import AdREM
from adrem.diagnostics import ClassExamples
from adrem.diagnostics.diagnosis import examine
from adrem.reports import About, make_page, pictures
from adrem.reports.pictures import Album


def test_a_picture_is_in_the_album_once() -> None:
    album = Album([b"a", b"b"], [b"c", b""])
    places = [album.place(*key) for key in (("source", 1), ("target", 0), ("source", 1), ("target", 1))]
    assert places == [0, 1, 0, None]  # the last one can't be read
    contents = [base64.b64decode(uri.removeprefix("data:image/webp;base64,")) for uri in album.uris]
    assert contents == [b"b", b"c"]
    assert Album(None, None).place("source", 0) is None


def test_pages_hold_no_more_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MAX_PICTURES", 3)
    album = Album(None, [b"x"] * 10)
    assert [album.place("target", row) for row in (0, 1, 2, 3, 0)] == [0, 1, 2, None, 0]
    monkeypatch.setattr(pictures, "MAX_PICTURES", 100)
    monkeypatch.setattr(pictures, "MAX_BYTES", 25)
    album = Album(None, [b"x" * 10] * 10)
    assert [album.place("target", row) for row in range(4)] == [0, 1, 2, None]


@pytest.mark.thorough
def test_examples_are_the_surest_the_least_sure_and_the_changed() -> None:
    data = make_blobs_shift()
    model = AdREM(n_estimators=5, random_state=0).fit(data.X_source, data.y_source, X_target=data.X_target)
    examined = examine(model, *data[:3])
    confidence = model.confidence_rows(data.X_target)
    for k, own in enumerate(examined.examples(4)):
        assert own.label == model.classes_[k]
        rows = [*own.surest, *own.unsurest, *own.changed]
        assert (examined.after[rows] == k).all()
        assert len(own.surest) == len(own.unsurest) == 4
        assert not {*own.surest} & {*own.unsurest}
        assert confidence[own.surest].min() >= confidence[own.unsurest].max()
        assert (examined.before[own.changed] != k).all()


@pytest.mark.thorough
def test_the_page_shows_pictures_in_the_map_the_table_and_a_grid() -> None:
    data = make_blobs_shift()
    model = AdREM(n_estimators=3, random_state=0).fit(data.X_source, data.y_source, X_target=data.X_target)
    examined = examine(model, *data[:3])
    labels = {"source": data.y_source.tolist(), "target": model.transduction_.tolist()}
    shown = [f"picture {row}".encode() for row in range(len(data.X_target))]
    grid = [ClassExamples(model.classes_[0], [3, 4], [5], [])]
    about = About(target_pictures=shown, examples=grid, target_rows=[f'"row" <{k}>' for k in range(len(shown))])
    html = make_page(examined.diagnosis(), labels, about).html
    [block] = re.findall(r'<script type="application/json" id="pictures">(.*?)</script>', html)
    uris = re.findall(r'"(data:image/webp;base64,[A-Za-z0-9+/=]+)"', block)
    assert base64.b64decode(uris[0].partition(",")[2]).startswith(b"picture ")
    assert len({*uris}) == len(uris) > 20
    assert html.count('class="album"') == 1
    assert 'title="row 4: &#34;row&#34; &lt;3&gt;"' in html
    assert re.search(r'<td class="said"><img data-picture="0"', html)
    assert re.search(r'<circle class="row target-row[^>]* data-picture="', html)
    assert "img-src data:;" in html
    plain = adrem.report(model, *data[:3]).html
    assert 'id="pictures">[]</script>' in plain
    assert "Pictures of each label" not in plain
