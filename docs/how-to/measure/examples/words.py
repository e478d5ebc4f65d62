import random

import lull


@lull.region("make")
def make(count: int) -> list[str]:
    return ["".join(random.choices("abcdefgh", k=12)) for _ in range(count)]


words = make(300_000)
with lull.region("sort"):
    words.sort()
lull.metric_sum("sorted", len(words), "1")
print("first", words[0])
