"""Running a course: what comes before grading and after it, on one machine.

`roster` says who is in the course. `collect` brings downloads of Canvas, Moodle and nbgrader into one folder for each
student. Then `lib.grading` makes the records. `decisions` reads what people decided, and `scores` joins all of it.
`feedback`, `gradebook` and `items` tell students, the gradebook and the instructor. `regrade` grades one question anew,
`similar` lists submissions that are alike, `forget` removes a student. Nothing leaves the machine.
"""
