"""Pairs of facts, labelled by hand: the same in other words, or facts that must coexist.

Written for this test. Every second pair is held out: the tables of ``likeness`` were made
looking at the others.
"""

from __future__ import annotations

from audits.domain.likeness import Said

Pair = tuple[Said, Said]


def _pairs(rows: list[tuple[str, str, str, str, str]]) -> list[Pair]:
    return [
        (Said(subject, one, value), Said(subject, other, restated))
        for subject, one, value, other, restated in rows
    ]


RESTATED = _pairs([
    ("Ada", "likes", "red bicycles", "likes", "bicycles that are red"),
    ("Ada", "likes", "strong black coffee", "likes", "black coffee, strong"),
    ("Ada", "home", "lives in Berlin", "residence", "resides in Berlin"),
    ("Ada", "job", "works for Acme", "job", "is employed by Acme"),
    ("Ada", "allergy", "allergic to peanuts", "allergy", "has a peanut allergy"),
    ("Ada", "diet", "the user is vegetarian", "diet", "vegetarian"),
    ("Ada", "preference", "prefers dark mode in the editor", "preference", "favorite editor mode: dark"),
    ("Ada", "language", "speaks German and French", "language", "speaks French and German"),
    ("Ada", "pet", "has a cat named Miso", "pet", "cat called Miso"),
    ("Ada", "commute", "goes to the office by bike", "commute", "goes to the office by bicycle"),
    ("Team", "deadline", "the report is due on 3 May", "deadline", "report deadline: 3 May"),
    ("Team", "standup", "daily standup at 9:30", "standup", "standup every day at 9:30"),
    ("Team", "tool", "uses PostgreSQL as database", "tool", "uses Postgres as the db"),
    ("Team", "tool", "writes code in VS Code", "tool", "writes code in Visual Studio Code"),
    ("Team", "deploy", "runs on k8s", "deploy", "runs on Kubernetes"),
    ("Team", "style", "tabs, not spaces", "style", "tabs and not spaces"),
    ("Ada", "colour", "favourite colour is green", "colour", "favorite color: green"),
    ("Ada", "training", "running three times a week", "training", "running 3 times a week"),
    ("Ada", "family", "has two kids", "family", "has two children"),
    ("Ada", "family", "is married to Ravi", "family", "Ravi's spouse"),
    ("Ada", "trip", "holiday in Portugal in Sept", "trip", "vacation in Portugal in September"),
    ("Ada", "contact", "contact by e-mail", "contact", "contact by email"),
    ("Ada", "car", "owns an electric car", "car", "owns an electric automobile"),
    ("Ada", "home", "apartment in New York City", "home", "flat in NYC"),
    ("Ada", "likes", "accommodation near the sea", "likes", "accomodation near the sea"),
    ("Ada", "project", "the frontend is written in TypeScript", "project", "the front end is written in TypeScript"),
    ("Ada", "food", "doesn't eat meat", "food", "does not eat meat"),
    ("Ada", "food", "can't eat gluten", "food", "cannot eat gluten"),
    ("Ada", "likes", "enjoys hiking", "hobbies", "likes hiking"),
    ("Ada", "music", "listens to jazz a lot", "music", "listens to jazz much"),
    ("Ada", "note", "Ada lives in Berlin", "note", "Ada resides in Berlin"),
    ("Ada", "note", "The user's favorite editor is Vim", "note", "Vim is the preferred editor of the user"),
    ("Ada", "note", "Ada prefers short answers", "note", "Ada prefers brief replies"),
    ("Ada", "note", "Ada has a meeting with Ravi on Tue", "note", "Ada has an appointment with Ravi on Tuesday"),
    ("Ada", "note", "Ada is allergic to nuts", "allergic", "nuts"),
    ("Ada", "employer", "Acme", "works at", "Acme"),
    ("Ada", "birthday", "born on 3 May 1990", "birthday", "date of birth: 3 May 1990"),
    ("Ada", "meeting", "weekly sync on Monday", "meeting", "sync each week on Mon"),
    ("Team", "rule", "tests must pass before a merge", "rule", "tests need to pass before a merge"),
    ("Team", "rule", "never deploy on Fridays", "rule", "no deploy on Fridays"),
    ("Ada", "phone", "phone number is 555 0101", "phone", "telephone number: 555 0101"),
    ("Ada", "style", "wants concise answers", "style", "wants short answers"),
])  # fmt: skip

COEXIST = _pairs([
    ("Acme", "port", "staging port 8080", "port", "production port 8081"),
    ("Acme", "port", "staging port 8080", "port", "staging port 8081"),
    ("Acme", "port", "staging port 8080", "port", "production port 8080"),
    ("Ada", "allergy", "allergic to nuts", "allergy", "not allergic to nuts"),
    ("Ada", "allergy", "allergic to nuts", "allergy", "allergic to nuts and shellfish"),
    ("Ada", "home", "lives in Berlin", "home", "lives in Munich"),
    ("Ada", "home", "lives in Berlin", "home", "lived in Berlin"),
    ("Ada", "home", "lives in Berlin", "home", "used to live in Berlin"),
    ("Ada", "pet", "has a cat named Miso", "pet", "has a cat named Mimi"),
    ("Ada", "pet", "has a cat named Miso", "pet", "has a dog named Miso"),
    ("Ada", "meeting", "sync on Monday at 9", "meeting", "sync on Tuesday at 9"),
    ("Ada", "meeting", "sync on Monday at 9", "meeting", "sync on Monday at 10"),
    ("Ada", "trip", "holiday in Portugal in May", "trip", "holiday in Portugal in June"),
    ("Ada", "birthday", "3 May 1990", "birthday", "5 March 1990"),
    ("Ada", "food", "likes coffee", "food", "likes coffee with milk"),
    ("Ada", "food", "prefers tea to coffee", "food", "prefers coffee to tea"),
    ("Ada", "travel", "moved from Berlin to Paris", "travel", "moved from Paris to Berlin"),
    ("Ada", "team", "Anna manages Bob", "team", "Bob manages Anna"),
    ("Ada", "family", "mother is called Eva", "family", "father is called Eva"),
    ("Ada", "family", "has two kids", "family", "has three kids"),
    ("Ada", "tool", "uses Python 3.11", "tool", "uses Python 3.12"),
    ("Ada", "tool", "uses Java", "tool", "uses JavaScript"),
    ("Ada", "medicine", "takes ibuprofen in the morning", "medicine", "takes ibuprofen in the evening"),
    ("Ada", "medicine", "10 mg of lisinopril", "medicine", "20 mg of lisinopril"),
    ("Ada", "rule", "always ask before a deploy", "rule", "never ask before a deploy"),
    ("Ada", "rule", "run the tests before the build", "rule", "run the tests after the build"),
    ("Ada", "access", "has read access to billing", "access", "has write access to billing"),
    ("Ada", "key", "key of the primary server", "key", "key of the backup server"),
    ("Ada", "likes", "likes hiking", "likes", "wants to go hiking"),
    ("Ada", "likes", "likes hiking", "likes", "might like hiking"),
    ("Ada", "email", "ada@work.example", "email", "ada@home.example"),
    ("Ada", "work", "left Acme", "work", "works at Acme"),
    ("Ada", "note", "Ravi prefers email", "note", "Ada prefers email"),
    ("Ada", "note", "Anna lives in Berlin", "note", "Anne lives in Berlin"),
    ("Ada", "note", "Karlsson is the contact for billing", "note", "Karlson is the contact for shipping"),
    ("Ada", "budget", "budget of 1,500 euros", "budget", "budget of 15,000 euros"),
    ("Ada", "budget", "at least 500 euros", "budget", "at most 500 euros"),
    ("Ada", "seat", "window seat on the left", "seat", "window seat on the right"),
    ("Ada", "plan", "starts the course in autumn", "plan", "ends the course in autumn"),
    ("Ada", "plan", "only eats fish", "plan", "eats fish"),
    ("Ada", "lives in", "Berlin", "born in", "Berlin"),
    ("Ada", "favorite color", "green", "car color", "green"),
    ("Ada", "home phone", "555 0101", "work phone", "555 0101"),
    ("Ada", "doctor", "Dr Brandt", "dentist", "Dr Brandt"),
])  # fmt: skip
