"""Dates in other languages and scripts, on Monday 8 May 2023, 13:56 UTC."""

from __future__ import annotations

import pytest

from tests.memory.dates_notation import said

LANGUAGES = [
    ("2023年5月8日に会いました", "2023年5月8日 = point 2023-05-08..2023-05-09 day"),
    ("5月3日に行きました", "5月3日 = point 2023-05-03..2023-05-04 day"),
    ("2023年5月のこと", "2023年5月 = point 2023-05-01..2023-06-01 month"),
    ("昨日は雨でした", "昨日 = point 2023-05-07..2023-05-08 day"),
    ("先週、京都に行きました", "先週 = point 2023-05-01..2023-05-08 day"),
    ("去年引っ越しました", "去年 = point 2022-01-01..2023-01-01 year"),
    ("三年前に始めた", "三年前 = point 2020-01-01..2021-01-01 year"),
    ("来月行きます", "来月 = point 2023-06-01..2023-07-01 month"),
    ("我昨天去了医院", "昨天 = point 2023-05-07..2023-05-08 day"),
    ("明天见", "明天 = point 2023-05-09..2023-05-10 day"),
    ("上周我们见过面", "上周 = point 2023-05-01..2023-05-08 day"),
    ("两个月前", "两个月前 = point 2023-03-01..2023-04-01 month"),
    ("前天", "前天 = point 2023-05-06..2023-05-07 day"),
    ("2023年5月8日我去了北京", "2023年5月8日 = point 2023-05-08..2023-05-09 day"),
    ("下个月", "下个月 = point 2023-06-01..2023-07-01 month"),
    ("어제 만났어요", "어제 = point 2023-05-07..2023-05-08 day"),
    ("2023년 5월 8일", "2023년 5월 8일 = point 2023-05-08..2023-05-09 day"),
    ("작년에 이사했어요", "작년 = point 2022-01-01..2023-01-01 year"),
    ("٢٠٢٣-٠٥-٠٨", "٢٠٢٣-٠٥-٠٨ = point 2023-05-08..2023-05-09 day"),
    ("２０２３年５月８日", "２０２３年５月８日 = point 2023-05-08..2023-05-09 day"),
    ("२०२३-०५-०८", "२०२३-०५-०८ = point 2023-05-08..2023-05-09 day"),
    ("am 3. Mai 2023", "3. Mai 2023 = point 2023-05-03..2023-05-04 day"),
    ("Gestern war ich krank.", "Gestern = point 2023-05-07..2023-05-08 day"),
    ("vor zwei Jahren", "vor zwei Jahren = point 2021-01-01..2022-01-01 year"),
    ("Ich wohne hier seit 2019.", "seit 2019 = since 2019-01-01.. year"),
    ("Ich komme morgen.", "morgen = point 2023-05-09..2023-05-10 day"),
    ("Guten Morgen!", ""),
    ("letztes Jahr", "letztes Jahr = point 2022-01-01..2023-01-01 year"),
    ("nächste Woche", "nächste Woche = point 2023-05-15..2023-05-22 day"),
    ("im Oktober 2021", "Oktober 2021 = point 2021-10-01..2021-11-01 month"),
    ("hier, j'ai mangé", "hier = point 2023-05-07..2023-05-08 day"),
    ("le 3 mai 2023", "3 mai 2023 = point 2023-05-03..2023-05-04 day"),
    ("il y a deux ans", "il y a deux ans = point 2021-01-01..2022-01-01 year"),
    ("depuis 2019", "depuis 2019 = since 2019-01-01.. year"),
    ("la semaine dernière", "la semaine dernière = point 2023-05-01..2023-05-08 day"),
    ("aujourd'hui", "aujourd'hui = point 2023-05-08..2023-05-09 day"),
    ("ayer fui al cine", "ayer = point 2023-05-07..2023-05-08 day"),
    ("el 3 de mayo de 2023", "3 de mayo de 2023 = point 2023-05-03..2023-05-04 day"),
    ("hace tres meses", "hace tres meses = point 2023-02-01..2023-03-01 month"),
    ("desde 2019", "desde 2019 = since 2019-01-01.. year"),
    ("por la mañana", ""),
    ("Nos vemos mañana", "mañana = point 2023-05-09..2023-05-10 day"),
    ("el año pasado", "el año pasado = point 2022-01-01..2023-01-01 year"),
    ("明日香さん", ""),
]


@pytest.mark.parametrize(("text", "expected"), LANGUAGES)
def test_a_date_in_another_language_means_this(text: str, expected: str) -> None:
    assert said(text, "2023-05-08T13:56:00Z") == expected
