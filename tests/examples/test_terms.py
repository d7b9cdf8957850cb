"""The hundred conversations that a chat model can be tuned on."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_terms_are_a_hundred_questions_with_an_answer_from_the_glossary():
    lines = (ROOT / "examples" / "terms.jsonl").read_text(encoding="utf-8").splitlines()
    conversations = [json.loads(line)["messages"] for line in lines]
    assert [[message["role"] for message in messages] for messages in conversations] == [["user", "assistant"]] * 100
    assert len({messages[0]["content"] for messages in conversations}) == 100
    glossary = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    for question, answer in conversations:
        assert f"\n{question['content'].split('“')[1].split('”')[0]}\n" in glossary
        assert answer["content"].endswith(".")
