"""English stems: which forms meet, and which words stay apart."""

import pytest

from memgraph_server.memory.english import stem

STEMS = {
    "swim": "swim swims swimming swam",
    "make": "make makes making made",
    "hope": "hope hopes hoping hoped",
    "hop": "hop hops hopping hopped",
    "hike": "hike hikes hiking hiked",
    "change": "change changes changing changed",
    "create": "create creates creating created",
    "try": "try tries tried trying",
    "activity": "activity activities",
    "movie": "movie movies",
    "dish": "dish dishes",
    "recipe": "recipe recipes",
    "box": "box boxes",
    "class": "class classes",
    "tell": "tell telling told",
    "travel": "travel travelled traveling travels",
    "explore": "explore explored exploring",
    "visit": "visit visited visiting",
    "volunteer": "volunteer volunteering volunteered",
    "handle": "handle handled handling",
    "go": "go goes went gone going",
    "child": "child children",
    "raise": "raise raises raising raised",
    "appreciate": "appreciate appreciated appreciating",
    "graduate": "graduate graduated",
    "challenge": "challenge challenges challenged challenging",
    "ignore": "ignore ignored ignoring",
    "complete": "complete completed completing",
    "include": "include includes included including",
    "treat": "treat treated treating",
    "offer": "offer offered offering",
    "recall": "recall recalled recalling",
    "patrol": "patrol patrolled patrolling",
    "add": "add adds added adding",
    "welcome": "welcome welcomed welcoming",
    "live": "live lives lived living",
    "leave": "leave leaves left leaving",
    "quiz": "quiz quizzes",
    "virus": "virus viruses",
    "smoothie": "smoothie smoothies",
    "calorie": "calorie calories",
    "agree": "agree agrees agreed agreeing",
}


@pytest.mark.parametrize("base", STEMS)
def test_the_forms_of_an_english_word_meet_in_its_base(base: str) -> None:
    assert {stem(form) for form in STEMS[base].split()} == {base}


@pytest.mark.parametrize(
    "word", "thing king ring spring string morning something red bed need seed hundred bus gas news this lens".split()
)
def test_a_word_that_only_looks_inflected_stays(word: str) -> None:
    assert stem(word) == word


@pytest.mark.parametrize(("one", "other"), [("hope", "hop"), ("note", "not"), ("paint", "painter"), ("use", "us")])
def test_different_words_stay_apart(one: str, other: str) -> None:
    assert stem(one) != stem(other)
