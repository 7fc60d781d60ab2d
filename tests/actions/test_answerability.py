"""Questions in Chinese and Japanese: one that the memory cannot answer gets less than one that it can."""

from __future__ import annotations

from pathlib import Path

import pytest

from memgraph_server import wiring
from memgraph_server.actions.inputs import GivenTurn
from memgraph_server.actions.read_turns import read_lease
from memgraph_server.actions.store_turns import store_turns
from memgraph_server.api.payloads import QueryIn
from memgraph_server.command_line.asking import ask
from memgraph_server.settings import Settings

CHINESE = [
    ("小明", "我上个月搬到了上海。"),
    ("小红", "我还住在北京，在一家银行工作。"),
    ("小明", "我养了一只猫，名字叫豆豆。"),
    ("小红", "我周末喜欢爬山。"),
    ("小明", "我妹妹在大学学音乐。"),
    ("小红", "我对花生过敏，不能吃。"),
]
JAPANESE = [
    ("健太", "先月、大阪に引っ越しました。"),
    ("美咲", "私はまだ東京に住んでいて、銀行で働いています。"),
    ("健太", "猫を飼っています。名前はタマです。"),
    ("美咲", "週末は山登りが好きです。"),
    ("健太", "妹は大学で音楽を勉強しています。"),
    ("美咲", "ピーナッツのアレルギーがあります。"),
]
ASKED = {
    "Chinese": (
        CHINESE,
        ("小明搬到了哪里？", "小红对什么过敏？", "小明的猫叫什么名字？"),
        ("小明的电话号码是多少？", "小红的结婚纪念日是哪一天？", "小红信什么宗教？"),
    ),
    "Japanese": (
        JAPANESE,
        ("健太はどこに引っ越しましたか？", "美咲は何のアレルギーがありますか？", "健太の妹は何を勉強していますか？"),
        ("健太の電話番号は何番ですか？", "美咲の結婚記念日はいつですか？", "美咲の宗教は何ですか？"),
    ),
}


@pytest.mark.parametrize("language", ASKED)
def test_what_nobody_said_is_less_answerable_than_what_was_said(tmp_path: Path, language: str) -> None:
    said, answered, unanswered = ASKED[language]
    services = wiring.services(Settings(store=f"sqlite:///{tmp_path}/x.db", embedder="onnx-minilm", extractor="local"))
    try:
        given = [
            GivenTurn(text, f"2024-05-08T12:{place:02}:00Z", id=f"t{place}", speaker=speaker)
            for place, (speaker, text) in enumerate(said)
        ]
        store_turns(services.store, "n", "s", given, now=wiring.clock(), new_id=wiring.new_id)
        lease = services.store.lease("w", now=wiring.clock(), seconds=600, limit=64)
        assert lease is not None
        assert read_lease(services.reader.get(), lease, clock=wiring.clock).applied == len(said)
        sure, unsure = (
            [ask(services, "n", QueryIn(query=text, token_budget=100)).answerability for text in texts]
            for texts in (answered, unanswered)
        )
    finally:
        services.close()
    assert max(unsure) < 0.5 < min(sure)
