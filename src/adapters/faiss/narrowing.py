"""Filters all entries of a user at once, like `matchesFilter` of src/domain/filters/metadata-filter.ts."""

import numpy as np

FIELDS = ("id", "type", "owner", "at", "kind", "session")
ABSENT = object()


class Unsaid(Exception):
    pass


def allowed(where, user):
    """The labels of the entries that pass the filter, for FAISS."""
    if user.columns is None:
        user.columns = Columns(user.rows)
    return user.columns.labels[user.columns.passing(where)]


class Columns:
    """The rows as columns: for each field, its values and their positions, so that each value is compared once."""

    def __init__(self, rows):
        self.labels = np.fromiter(rows, "int64", len(rows))
        self.texts = {}
        for place, field in enumerate(FIELDS):
            if field not in ("id", "at"):
                values, codes = {}, np.empty(len(rows), "int64")
                for i, row in enumerate(rows.values()):
                    codes[i] = values.setdefault(row[place], len(values))
                self.texts[field] = (list(values), codes)
        self.times = np.fromiter((row[FIELDS.index("at")] for row in rows.values()), "float64", len(rows))

    def passing(self, where):
        passed = np.ones(len(self.labels), bool)
        for field, wanted in where.items():
            if field == "$and":
                for one in wanted:
                    passed &= self.passing(one)
            elif field == "$or":
                passed &= np.logical_or.reduce([self.passing(one) for one in wanted] or [~passed])
            elif field == "$not":
                passed &= ~self.passing(wanted)
            elif field.startswith("$"):
                raise Unsaid(f"where: {field} is not an operator.")
            else:
                passed &= self.holding(field, wanted if isinstance(wanted, dict) else {"$eq": wanted})
        return passed

    def holding(self, field, conditions):
        passed = np.ones(len(self.labels), bool)
        for operator, wanted in conditions.items():
            if operator == "$not":
                passed &= ~self.holding(field, wanted)
            elif operator == "$in":
                passed &= np.logical_or.reduce([self.compared(field, "$eq", one) for one in wanted] or [~passed])
            elif operator == "$nin":
                for one in wanted:
                    passed &= ~self.compared(field, "$eq", one)
            else:
                passed &= self.compared(field, operator, wanted)
        return passed

    def compared(self, field, operator, wanted):
        if field == "at" and operator != "$exists" and is_number(wanted):
            return COMPARE_NUMBERS.get(operator, unknown)(self.times, wanted)
        if field in self.texts:
            values, codes = self.texts[field]
            held = [ABSENT if value is None else value for value in values]
        else:
            # A time compared with another type, or a field that no entry has.
            held, codes = [0.0 if field == "at" else ABSENT], np.zeros(len(self.labels), "int64")
        compare = COMPARE.get(operator, unknown)
        return np.array([compare(one, wanted) for one in held] or [False], bool)[codes]


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_same(held, wanted):
    if held is ABSENT:
        return False
    return held == wanted and (is_number(held) == is_number(wanted))


def in_order(held, wanted):
    """Negative, zero or positive; None if the two have no order. Texts are ordered by UTF-16, as in JavaScript."""
    if isinstance(held, str) and isinstance(wanted, str):
        one, other = held.encode("utf-16-be"), wanted.encode("utf-16-be")
        return (one > other) - (one < other)
    return None


def unknown(_held, _wanted):
    raise Unsaid("where: unknown operator.")


def ordered(passes):
    def compare(held, wanted):
        order = in_order(held, wanted)
        return order is not None and passes(order)

    return compare


COMPARE = {
    "$eq": is_same,
    "$ne": lambda held, wanted: not is_same(held, wanted),
    "$gt": ordered(lambda order: order > 0),
    "$gte": ordered(lambda order: order >= 0),
    "$lt": ordered(lambda order: order < 0),
    "$lte": ordered(lambda order: order <= 0),
    "$exists": lambda held, wanted: (held is not ABSENT) == (wanted is not False),
}

COMPARE_NUMBERS = {
    "$eq": np.equal,
    "$ne": np.not_equal,
    "$gt": np.greater,
    "$gte": np.greater_equal,
    "$lt": np.less,
    "$lte": np.less_equal,
}
