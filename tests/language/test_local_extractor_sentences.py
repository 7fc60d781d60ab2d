"""Sentences and what they state: each line is said by Ann to Bob on Wednesday, 10 May 2023."""

from __future__ import annotations

import pytest

from tests.language.local_extraction import claims, endings

#: (sentence, triples that must be claimed; the head is Ann where it is left out).
STATED: list[tuple[str, list[tuple[str, ...]]]] = [
    # where and with whom one lives and works
    ("I live in Paris.", [("lives_in", "Paris")]),
    ("I've been living in Paris since 2018.", [("lives_in", "Paris")]),
    ("I moved to Boston in June 2021.", [("lives_in", "Boston")]),
    ("I used to live in Rome.", [("used_to_live_in", "Rome")]),
    ("I lived in London.", [("lived_in", "London")]),
    ("I lived in London in 2015.", [("lives_in", "London")]),
    ("My hometown is Stockholm.", [("comes_from", "Stockholm")]),
    ("I'm from Sweden.", [("comes_from", "Sweden")]),
    ("I was born in Chicago.", [("born_in", "Chicago")]),
    ("I was born in 1990.", [("born_on", "1990")]),
    ("I'm Swedish.", [("nationality", "Swedish")]),
    ("I work at Acme.", [("works_at", "Acme")]),
    ("I work for Acme as a data analyst.", [("works_at", "Acme")]),
    ("I'm a nurse.", [("occupation", "nurse")]),
    ("I'm the CEO of Acme.", [("occupation", "CEO of Acme")]),
    ("My boss is John Smith.", [("reports_to", "John Smith")]),
    ("I was promoted to manager in March.", [("promoted_to", "manager")]),
    ("I teach math.", [("teaches", "math")]),
    ("I volunteer at a homeless shelter.", [("volunteers_at", "homeless shelter")]),
    ("I graduated from MIT in 2012.", [("graduated_from", "MIT")]),
    # what one is
    ("I'm single.", [("relationship_status", "single")]),
    ("I'm engaged to Sam.", [("relationship_status", "engaged"), ("engaged_to", "Sam")]),
    ("I got married to Tom last year.", [("relationship_status", "married"), ("married_to", "Tom")]),
    ("We've been married for 5 years.", [("relationship_status", "married")]),
    ("I'm allergic to peanuts.", [("allergic_to", "peanuts")]),
    ("I'm 34 years old.", [("age", "34")]),
    ("My birthday is on March 3.", [("birthday", "March 3")]),
    ("My name is Ann Miller.", [("named", "Ann Miller")]),
    ("I'm a member of a book club.", [("member_of", "book club")]),
    ("My main concern is the price.", [("main_concern", "price")]),
    ("My parents' comfort is my main concern.", [("main_concern", "parents' comfort")]),
    ("We're putting together a talent show.", [("puts_together", "talent show")]),
    ("Pottery is my hobby.", [("hobby", "pottery")]),
    ("I'm friends with Maria.", [("friend_of", "Maria")]),
    ("I'm dating Tom.", [("dating", "Tom")]),
    ("I date the note.", [("dates", "note")]),
    ("We took on a big project.", [("took_on", "big project")]),
    ("I set up a folder for the photos.", [("set_up", "folder")]),
    ("I speak Spanish and French.", [("speaks", "Spanish"), ("speaks", "French")]),
    # family, pets
    ("My sister Anna lives in Berlin.", [("has_sister", "Anna"), ("Anna", "lives_in", "Berlin")]),
    ("My sister is a doctor.", [("has_sister", "Ann's sister"), ("Ann's sister", "occupation", "doctor")]),
    ("My husband Tom works at Google.", [("married_to", "Tom"), ("Tom", "works_at", "Google")]),
    ("My kids love the beach.", [("parent_of", "Ann's kids"), ("Ann's kids", "likes", "beach")]),
    ("My mom gave me a necklace.", [("Ann's mom", "gave", "necklace")]),
    ("I'm proud of my daughter.", [("has_daughter", "Ann's daughter"), ("proud_of", "Ann's daughter")]),
    ("My dog is called Max.", [("has_pet", "Ann's dog"), ("Ann's dog", "named", "Max")]),
    ("My dog's name is Max.", [("Ann's dog", "named", "Max")]),
    ("I have a dog named Max.", [("has_pet", "Max")]),
    ("I have two kids.", [("has", "two kids")]),
    ("I adopted a puppy from a shelter.", [("adopted", "puppy from shelter")]),
    # likes
    ("I like swimming and painting.", [("likes", "swimming"), ("likes", "painting")]),
    ("I love pottery, but I hate running.", [("likes", "pottery"), ("dislikes", "running")]),
    ("I enjoy cooking with my mom.", [("likes", "cooking with Ann's mom")]),
    ("I prefer tea to coffee.", [("prefers", "tea")]),
    ("I'm into jazz.", [("interested_in", "jazz")]),
    ("I'm keen on counseling.", [("likes", "counseling")]),
    ("I'm a big fan of jazz.", [("likes", "jazz")]),
    ("Pottery is my favorite hobby.", [("favorite_hobby", "pottery")]),
    ("My favorite book is Becoming Nicole.", [("favorite_book", "Becoming Nicole")]),
    ("I don't like coffee.", [("dislikes", "coffee")]),
    ("I play the violin.", [("plays", "violin")]),
    # plans, wishes, needs
    ("I want to adopt a child.", [("wants_to", "adopt child")]),
    (
        "I plan to run a marathon and climb Mont Blanc.",
        [("plans_to", "run marathon"), ("plans_to", "climb Mont Blanc")],
    ),
    ("I hope to visit Japan.", [("hopes_to", "visit Japan")]),
    ("I'd love to visit Japan someday.", [("wants_to", "visit Japan")]),
    ("I'm thinking about going camping next month.", [("considers", "camping")]),
    ("I'm considering a new job.", [("considers", "new job")]),
    ("I'll move to Rome in July.", [("plans_to", "move to Rome")]),
    ("I'm moving to Rome next month.", [("plans_to", "move to Rome")]),
    ("Gonna paint the kitchen this weekend.", [("plans_to", "paint kitchen")]),
    ("I need to buy milk.", [("needs_to", "buy milk")]),
    ("I must call my mother.", [("needs_to", "call Ann's mother")]),
    ("I can't wait for the concert.", [("looks_forward_to", "concert")]),
    ("I'm looking forward to the trip.", [("looks_forward_to", "trip")]),
    ("My goal is to give kids a loving home.", [("goal", "give kids loving home")]),
    ("I'm training for a marathon.", [("trains_for", "marathon")]),
    # what happened
    ("I went to a LGBTQ support group yesterday.", [("went_to", "LGBTQ support group")]),
    ("I visited Rome and Paris in 2019.", [("visited", "Rome"), ("visited", "Paris")]),
    ("I bought a red bike from Anna.", [("bought", "red bike"), ("bought_from", "Anna")]),
    ("I started taking pottery classes last week.", [("started", "taking pottery classes")]),
    ("I ran a charity race last Saturday.", [("ran", "charity race")]),
    ("I read a book called Dune last week.", [("read", "Dune")]),
    ("I studied biology at Yale.", [("studied", "biology"), ("studied_at", "Yale")]),
    ("Just got back from Rome.", [("got_back_from", "Rome")]),
    ("Lost my job yesterday.", [("lost", "job")]),
    ("I switched from coffee to tea.", [("switched_to", "tea")]),
    ("I was invited by Maria.", [("invited_by", "Maria")]),
    ("My parents met in college.", [("Ann's parents", "met_in", "college")]),
    # what goes on
    ("I'm reading a book about cats.", [("reads", "book about cats")]),
    ("Researching adoption agencies.", [("researches", "adoption agencies")]),
    ("Been busy with work.", [("busy_with", "work")]),
    ("I've been working on a novel.", [("works_on", "novel")]),
    ("I have an appointment on Monday.", [("has", "appointment")]),
    # what is over
    ("I stopped smoking last year.", [("stopped", "smoking")]),
    ("I don't eat meat any more.", [("stopped", "eating meat")]),
    ("I no longer play the guitar.", [("stopped", "playing guitar")]),
    ("I quit my job at Acme last week.", [("quit", "job")]),
    ("I broke up with Tom.", [("broke_up_with", "Tom")]),
    ("I sold my car.", [("sold", "car")]),
    ("I left Acme in June.", [("left", "Acme")]),
    # advice, opinion, report
    ("You should try the Blue Door.", [("recommends", "Blue Door")]),
    ("Check out the Louvre when you go.", [("recommends", "Louvre")]),
    ("I recommend the Blue Door.", [("recommends", "Blue Door")]),
    ("Maybe I like jazz.", [("likes", "jazz")]),
    ("My brother said that he bought a house.", [("Ann's brother", "bought", "house")]),
    # several at once, pronouns
    (
        "My friend Lisa plays tennis. She won a tournament.",
        [("Lisa", "plays", "tennis"), ("Lisa", "won", "tournament")],
    ),
    ("The book I bought was about cats.", [("bought", "book")]),
    ("My sister and I went to Rome.", [("went_to", "Rome"), ("Ann's sister", "went_to", "Rome")]),
    ("I painted a sunset and sold a vase.", [("painted", "sunset"), ("sold", "vase")]),
    ("Thanks, Bob! I joined a gym.", [("joined", "gym")]),
    ("My friend who lives in Oslo is a vet.", [("Ann's friend", "lives_in", "Oslo")]),
    ("The support group has made me feel accepted.", [("support group", "made", "Ann feel accepted")]),
    ("The sound of the sea made me so calm.", [("sound of sea", "made", "Ann calm")]),
    ("My pets bring so much joy too, though.", [("Ann's pets", "brings", "joy")]),
    ("I'm doing kickboxing.", [("does", "kickboxing")]),
    ("I'm off to do some taekwondo!", [("plans_to", "do taekwondo")]),
    ("I'm keen to try your recipe.", [("keen_to", "try Bob's recipe")]),
    ("You can use coconut oil instead of butter.", [("suggested", "coconut oil")]),
    ("I bought a boat, but have you seen the harbor?", [("bought", "boat")]),
    ("I've been playing professionally for a year.", [("does", "playing professionally")]),
    ("I want to be fully insured.", [("wants_to", "be insured")]),
    ("I want to live authentically.", [("wants_to", "live authentically")]),
    ("I'm going to chat with them, get support and gather ideas.", [("plans_to", "gather ideas")]),
    ("Do you live in Paris?", [("asked_about", "Paris")]),
    ("Did you see that band?", [("asked_about", "band")]),
    ("I've been revising and perfecting the recipe.", [("perfects", "recipe")]),
]

#: Sentences that state nothing about the world.
SILENT = [
    "What do you like?",
    "Thanks, Bob! That's great!",
    "Wow, that looks awesome!",
    "Good luck with your race!",
    "You're doing an amazing job.",
    "I wish I had a dog.",
    "I wonder if she likes me.",
    "I'm so proud of you!",
    "Hey Bob! How are you?",
    "That means a lot to me.",
    "Take care!",
    "I totally agree.",
    "It was so powerful.",
    "That's a good spot for a morning workout!",
    "Thanks for sharing your love for dairy-free desserts.",
    "I could use some recommendations!",
    "I found out what we're really capable of.",
    "Those posters are great!",
    "Taking time for ourselves is crucial.",
    "Check out this pic!",
    "Let's structure it so I can finally start feeling better.",
    "Wow, amazing view!",
    "I never knew it could be so interesting.",
    "Anything else you can add to this list",
]

#: (sentence, triples that must not be claimed whatever else is).
NEVER: list[tuple[str, tuple[str, str, str]]] = [
    ("I don't eat meat any more.", ("Ann", "eats", "meat")),
    ("I don't like coffee.", ("Ann", "likes", "coffee")),
    ("I lived in London.", ("Ann", "lives_in", "London")),
    ("I used to live in Rome.", ("Ann", "lives_in", "Rome")),
    ("If I move to Rome, I'll learn Italian.", ("Ann", "lives_in", "Rome")),
    ("I don't think he lives in Rome.", ("Ann", "lives_in", "Rome")),
    ("I never went to Japan.", ("Ann", "went_to", "Japan")),
    ("I'm not a nurse.", ("Ann", "occupation", "nurse")),
    ("I'm not single.", ("Ann", "relationship_status", "single")),
    ("Thanks, Bob! I live in Paris.", ("Bob", "lives_in", "Paris")),
    ("Bob, you should visit Rome.", ("Bob", "visited", "Rome")),
    ("I didn't buy the car.", ("Ann", "bought", "car")),
    ("I wish I lived in Rome.", ("Ann", "lives_in", "Rome")),
    ("I took my family camping in the mountains.", ("Ann", "adopted", "mountains")),
    ("You can't make calls or check live systems.", ("Ann", "suggested", "live systems")),
    ("There's no way I can do the study session.", ("Ann", "practices", "study session")),
    ("I don't want any more errands.", ("Ann", "wants", "errands")),
    ("He's not here wagging that tail anymore.", ("Bob", "wags", "tail")),
    ("I've been running to de-stress.", ("Ann", "runs_to", "de")),
    ("I figured out the details.", ("Ann", "figured_out", "details")),
    ("Do you live in Paris?", ("Bob", "lives_in", "Paris")),
    ("I hope my screenplay finds a fan.", ("Ann's screenplay", "finds", "fan")),
    ("Show me ways I can find candidates.", ("Ann", "finds", "candidates")),
    ("I got the hang of it.", ("Ann", "received", "hang")),
    ("I saw my brother Tom, which is a relief.", ("Tom", "is", "relief")),
    ("I'm living my true self.", ("Ann", "lives_in", "true self")),
    ("I've been running longer since our last chat.", ("Ann", "stopped", "running since last chat")),
    ("I'm lucky to have you in my life, bringing so much joy.", ("Ann", "brings", "joy")),
    ("I want a pet that I'm not allergic to.", ("Ann", "not_is", "allergic")),
    ("Do you think wisdom is holding less prejudice", ("wisdom", "holds", "less prejudice")),
    ("I bought a boat. Do you like it, or the harbor?", ("Ann", "asked_about", "harbor")),
    ("Dedication got me here.", ("dedication", "received", "Ann")),
    ("It was for my friend's party.", ("Ann", "friend_of", "Ann's friend")),
    ("I'm glad we're keeping track of it.", ("Ann", "continues", "track")),
    ("I wore it when I was young.", ("Ann", "was", "young")),
    ("Do you think I work at Acme?", ("Ann", "works_at", "Acme")),
    ("I was a nurse.", ("Ann", "occupation", "nurse")),
    ("This place works for Anna.", ("place", "works_at", "Anna")),
    ("Tom and Max came over. He brought wine.", ("Tom", "brought", "wine")),
]

#: (sentence, what it ends).
ENDED: list[tuple[str, tuple[str, str | None]]] = [
    ("I don't eat meat any more.", ("eats", "meat")),
    ("I no longer play the guitar.", ("plays", "guitar")),
    ("I stopped eating sugar in January.", ("eats", "sugar")),
    ("I used to live in Rome.", ("lives_in", "Rome")),
    ("I used to play chess, but now I prefer go.", ("plays", "chess")),
    ("I quit my job at Acme last week.", ("works_at", None)),
    ("I left Acme in June.", ("works_at", "Acme")),
    ("I broke up with Tom.", ("dating", "Tom")),
    ("I sold my car.", ("owns", "car")),
    ("I stopped using the app.", ("uses", "app")),
]


@pytest.mark.parametrize(("sentence", "triples"), STATED, ids=[s for s, _ in STATED])
def test_a_sentence_states_its_facts(sentence: str, triples: list[tuple[str, ...]]) -> None:
    expected = {triple if len(triple) == 3 else ("Ann", *triple) for triple in triples}
    found = claims(sentence)
    assert expected <= found, f"missing {expected - found}, found {found}"


@pytest.mark.parametrize("sentence", SILENT)
def test_a_question_thanks_or_praise_states_nothing(sentence: str) -> None:
    assert claims(sentence) == set()


@pytest.mark.parametrize(("sentence", "triple"), NEVER, ids=[s for s, _ in NEVER])
def test_what_was_not_said_is_not_claimed(sentence: str, triple: tuple[str, str, str]) -> None:
    assert triple not in claims(sentence)


@pytest.mark.parametrize(("sentence", "ended"), ENDED, ids=[s for s, _ in ENDED])
def test_an_ending_ends_the_relation_it_speaks_of(sentence: str, ended: tuple[str, str | None]) -> None:
    assert ("Ann", *ended) in endings(sentence)
