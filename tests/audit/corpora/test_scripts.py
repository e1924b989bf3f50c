"""The functions of JavaScript files as samples."""

import json
from collections import Counter
from pathlib import Path

import pytest

from codeaudit.audit.corpora.scripts import (
    DECLARATIONS,
    function_name,
    function_name_in_typescript,
    functions,
    functions_of_typescript,
)
from codeaudit.audit.corpora.specs import corpus
from codeaudit.transforms.errors import SourceError
from codeaudit.transforms.javascript.files import FLOW, PACKED
from codeaudit.transforms.javascript.parsing import read_unit, statements
from codeaudit.transforms.records import Sample

FILE = """\
#!/usr/bin/env node
'use strict';
(function (root) {
  function total(items) {
    // kept
    return items.length;
  }

  const twice = (n) => {
    const m = n * 2;
    return m;
  };

  exports.three = function three() {
    let a = 1;
    return a + 2;
  };

  class Box extends Base {
    #size = 1;

    constructor(size) {
      super();
      this.size = size;
    }

    static async open(name) {
      const found = await find(name);
      return <Box size={found} />;
    }

    handle = (event) => {
      const { target } = event;
      return target;
    };

    empty() {
    }
  }

  module.exports = {
    four(a) {
      return a +
        4;
    },
    five: () => 5,
  };

  const short = () => 1;
  const arrow = (a) =>
    a +
    1;
})(this);

export default function () {
  const unnamed = 1;
  return unnamed;
}

export async function* seven(a) {
  yield a;
  yield 7;
}
"""


def taken(text: str) -> tuple[list[Sample], Counter[str]]:
    left_out: Counter[str] = Counter()
    return list(functions(text, "a/box.js", left_out)), left_out


def test_the_functions_of_a_file() -> None:
    samples, left_out = taken(FILE)
    assert [(sample.label, sample.origin.line) for sample in samples] == [
        ("total", 4), ("twice", 9), ("three", 14), ("open", 27), ("handle", 32), ("four", 42), ("seven", 60),
    ]  # fmt: skip
    assert left_out == {"constructor": 1, "empty function": 1, "arrow without a block": 2}


def test_a_function_is_dedented_with_its_comments_and_can_be_read_alone() -> None:
    samples, _ = taken(FILE)
    assert samples[0].source == "function total(items) {\n  // kept\n  return items.length;\n}"
    for sample in samples:
        _, unit = read_unit(sample.source)
        assert unit.name == sample.label
        assert function_name(sample.source) == sample.label
        assert statements(sample.source)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("class {", "source does not parse"),
        ("var a = 1;" * 300, PACKED),
        ("// @flow\nfunction f() {}\n", FLOW),
        ("/**\n * A file.\n * @flow strict\n */\nfunction f() {}\n", FLOW),
        ("function f(a: number) { }\n", "source does not parse"),
    ],
)
def test_a_file_that_is_not_read_is_told_by_a_phrase(text: str, reason: str) -> None:
    with pytest.raises(SourceError, match=f"^{reason}$"):
        taken(text)


def test_a_word_in_the_code_is_no_mark_of_flow() -> None:
    assert taken("function f() {\n  // @flow\n  return 1;\n}\n")[0]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("function f() { return 1; }", "f"), ("constructor() { }", None), ("function f() {} function g() {}", None),
        ("x ++ y", None), ("a.b.c = () => { };", "c"), ("'a b'() { }", "a b"), ("[k]() { }", None),
        ("f(a)\n{ g(); }", "f"), ("let a = 1, f = () => {};", None),
    ],
)  # fmt: skip
def test_the_name_of_the_one_function(source: str, name: str | None) -> None:
    assert function_name(source) == name


ENDINGS = ("js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx")


def test_all_endings(tmp_path: Path) -> None:
    for ending in (*ENDINGS, "d.ts", "css.d.mts"):
        (tmp_path / f"a.{ending}").write_text("function f(a) {\n  return a;\n}\n", encoding="utf-8")
    skipped: Counter[str] = Counter()
    units = list(corpus(str(tmp_path)).read(skipped))
    assert Counter(unit.language for unit in units) == {"javascript": 4, "typescript": 4}
    assert skipped == {DECLARATIONS: 2}


TYPED = """\
@Component({ selector: 'a' })
export abstract class Box<T> extends Base<T> implements Shape {
  private readonly size: number = 1;

  constructor(private name: string) {
    super();
    this.size = 2;
  }

  abstract area(): number;

  open(name: string): void;
  @Input() open(name: any): void {
    this.name = name as string;
  }

  static make = <K,>(key: K): Box<K> => {
    return new Box<K>(key!);
  };
}

export function isBox(value: unknown): value is Box<any> {
  return value instanceof Box;
}

namespace Inner {
  export const twice = (n: number) => {
    return n * 2;
  };
}

declare function seen(a: string): void;
enum Kind { A = 1, B }
"""


def test_functions_of_typescript(tmp_path: Path) -> None:
    left_out: Counter[str] = Counter()
    units = list(functions_of_typescript(TYPED, "a.ts", left_out))
    assert [unit.label for unit in units] == ["open", "make", "isBox", "twice"]
    assert all(read_unit(unit.source, "typescript") and unit.language == "typescript" for unit in units)
    assert units[1].source.startswith("static make = <K,>(key: K): Box<K> => {\n")
    assert left_out == {"constructor": 1}
    assert function_name_in_typescript(units[2].source) == "isBox"
    with pytest.raises(SourceError, match="source does not parse"):
        list(functions(TYPED, "a.js", left_out))


def test_a_table_with_a_column_of_languages(tmp_path: Path) -> None:
    source = "function f(a: number) {\n  return a;\n}\n"
    rows = [{"source": source, "language": "TypeScript"}, {"source": source, "file": "b.mts"}]
    place = tmp_path / "a.jsonl"
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert [unit.language for unit in corpus(str(place)).read(Counter())] == ["typescript"] * 2
