"""The words behind ``likeness``: which weigh nothing, which mean the same, which may not differ.

Small tables, written here. A word that stands in none of them is a difference.
"""

from __future__ import annotations

import re

from records.domain.stems import stem

# They carry no fact of their own.
LIGHT = frozenset(
    """a an the is are am be been being does do doing has have having of in at on for as by with to
    and or it its this that these those which who whom their his her hers my mine our your i he
    she they we you him them user users person people currently now presently really very quite
    just also too so about please named called name city town get gets got going via per within
    inside place there usually generally typically mostly primarily mainly one's s t""".split()  # noqa: SIM905 - reads better as text
)

# Words that turn, limit or doubt what is said: both texts have the same of them, or neither is
# the other in other words.
MARKS = {
    word: kind
    for kind, words in {
        "not": "not no never neither nor none nothing without hardly barely isnt dont doesnt",
        "past": "was were had did used former formerly previously past ex once ago until earlier",
        "stop": "stopped stops stop quit quits quitting ended ends cancelled canceled lost left",
        "doubt": "maybe perhaps possibly probably might may could would should if unless",
        "plan": "wants want plans plan hopes hope considering intends wishes will going soon next",
        "only": "only except but solely exclusively alone almost nearly",
        "more": "more most better best maximum max above over",
        "less": "less least fewer worse worst minimum min below under",
        "before": "before prior earlier",
        "after": "after since later afterwards",
        "morning": "morning mornings am",
        "evening": "evening evenings night nights pm",
        "noon": "afternoon afternoons noon lunch",
    }.items()
    for word in words.split()
}
MARKS.pop("going")

NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen twenty""".split()  # noqa: SIM905
    )
} | {"first": "1st", "second": "2nd", "third": "3rd", "once": "1x", "twice": "2x", "both": "2",
     "dozen": "12", "half": "0point5"}  # fmt: skip

NAMED = {
    "jan": "january", "feb": "february", "mar": "march", "apr": "april", "jun": "june",
    "jul": "july", "aug": "august", "sep": "september", "sept": "september", "oct": "october",
    "nov": "november", "dec": "december", "mon": "monday", "tue": "tuesday", "tues": "tuesday",
    "wed": "wednesday", "thu": "thursday", "thur": "thursday", "thurs": "thursday",
    "fri": "friday", "sat": "saturday", "sun": "sunday", "mr": "mister", "dr": "doctor",
    "js": "javascript", "ts": "typescript", "py": "python", "postgres": "postgresql",
    "db": "database", "repo": "repository", "app": "application", "apps": "applications",
    "info": "information", "phone": "telephone", "bike": "bicycle", "bikes": "bicycles",
    "fridge": "refrigerator", "exam": "examination", "vet": "veterinarian", "photo": "photograph",
    "photos": "photographs", "config": "configuration", "docs": "documentation", "uni": "university",
    "prod": "production", "dev": "development", "mum": "mother", "mom": "mother", "dad": "father",
}  # fmt: skip

PHRASES = tuple(
    (re.compile(rf"\b{phrase}\b"), instead)
    for phrase, instead in (
        (r"vs ?code|visual studio code", "vscode"),
        (r"k8s", "kubernetes"),
        (r"united states(?: of america)?|u\.s\.a?\.?|usa", "unitedstates"),
        (r"united kingdom|u\.k\.|uk", "unitedkingdom"),
        (r"new york city|nyc", "newyorkcity"),
        (r"e ?- ?mail", "email"),
        (r"is able to|are able to|is capable of", "can"),
        (r"due date", "deadline"),
        (r"a lot|lots", "much"),
        (r"date of birth|born on|was born on|birth date", "birthday"),
        (r"no longer|not any ?more", "not stopped"),
        (r"used to", "formerly"),
        (r"each day|every day", "daily"),
        (r"each week|every week", "weekly"),
        (r"each month|every month", "monthly"),
        (r"each year|every year", "yearly"),
        (r"o'clock", ""),
        (r"week ?ends?", "weekend"),
        (r"works? (?:at|for)|is employed (?:at|by)|employed (?:at|by)", "employer"),
        (r"married to|(?:is )?the (?:wife|husband) of", "spouse"),
    )
)

# Words that mean the same beside the same other words.
CLASSES = {
    stem(word): words.split()[0]
    for words in (
        "like likes loves love enjoys enjoy fond hobby hobbies pastime",
        "dislike dislikes hates hate",
        "live lives resides reside residence home based living address",
        "employer employed employment job works work working company",
        "allergic allergy allergies",
        "buy buys purchase purchases",
        "car automobile",
        "child kid kids children",
        "begin begins start starts commence",
        "need needs require requires must",
        "use uses utilize utilizes using",
        "big large",
        "small little",
        "speak speaks talks",
        "ill sick",
        "quick fast rapid",
        "doctor physician",
        "prefer prefers preference favorite favored preferred",
        "own owns possesses",
        "reach reached contacted contact",
        "telephone call cellphone mobile",
        "email mail",
        "meeting appointment meetup",
        "repository codebase",
        "editor ide",
        "bug defect",
        "deadline due",
        "spouse wife husband married",
        "birthday birthdate born",
        "study studies",
        "teach teaches",
        "cook cooks cooking",
        "run runs running jog jogs jogging",
        "vegetarian veggie",
        "holiday vacation",
        "film movie",
        "flat apartment",
        "language tongue",
        "native mother-tongue",
        "manager boss supervisor",
        "weekly week",
        "daily day",
        "much heavily",
        "drink drinks",
        "eat eats",
        "pet",
        "rent rents",
        "build builds constructs",
        "fix fixes repairs repair",
        "happy glad",
        "receive receives",
        "choose chooses picks",
        "answer answers reply replies respond responds response",
        "short brief concise",
        "expire expires",
        "store stores stored kept keeps",
        "listen listens hears",
        "seat chair",
        "newyorkcity newyork",
    )
    for word in words.split()
}

# Predicates that only say that something is said.
GENERIC = frozenset(
    """preference preferences note notes fact facts info information detail details memory about
    attribute general misc statement has is status profile""".split()  # noqa: SIM905
)

# Beside these, who comes first matters.
DIRECTED = frozenset(
    """prefer prefers preferred from than over instead into onto under above below behind through versus vs
    toward towards replaces replaced manages reports owes beats teaches gave gives sends sent""".split()  # noqa: SIM905
)
