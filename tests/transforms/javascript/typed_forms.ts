// Every way in which TypeScript narrows and widens, under `tsc --strict`.
type Shape = { kind: "circle"; radius: number } | { kind: "square"; side: number };
type Reply = { ok: true; value: string } | { ok: false; reason: string };
enum Color { Red, Green, Blue }
class Fault extends Error { code = 1; }
interface Named { name: string }
interface Aged { age: number }
declare function isText(value: unknown): value is string;
declare function assertText(value: unknown): asserts value is string;
declare function assert(value: unknown): asserts value;
declare function fail(): never;

export function byTypeof(value: string | number | undefined): string {
    const mark = 1;
    if (typeof value === "string") {
        return value.toUpperCase();
    } else if (value === undefined) {
        return "none";
    }
    const number = value;
    return number.toFixed(mark);
}

export function notTypeof(value: string | number): number {
    if (!(typeof value === "string")) {
        return value.toFixed(1).length;
    }
    const text = value;
    return text.length;
}

export function byNull(value: string | null, other: number[] | undefined): number {
    let text = value;
    if (text == null || !other) return 0;
    const first = text;
    const many = other;
    return first.length + many.length;
}

export function byTruth(value: Named | null): string {
    if (!value) {
        return "";
    }
    const found = value;
    const name = !found.name ? "-" : found.name;
    return name;
}

export function byClass(error: unknown): number {
    if (!(error instanceof Fault)) {
        throw error;
    }
    const fault = error;
    return fault.code;
}

export function byIn(value: Named | Aged): string | number {
    if (!("name" in value)) return value.age;
    const named = value;
    return named.name;
}

export function byKind(shape: Shape): number {
    if (shape.kind === "circle") {
        const circle = shape;
        return circle.radius;
    }
    const square = shape;
    return square.side;
}

export function byFlag(reply: Reply): string {
    if (reply.ok === true) {
        return reply.value;
    }
    const failed = reply;
    return failed.reason;
}

export function byArray(value: string | string[]): string[] {
    if (!Array.isArray(value)) return [value];
    const all = value;
    return all;
}

export function byGuard(value: unknown): string {
    if (!isText(value)) return "";
    const text = value;
    return text.trim();
}

export function byAssertion(value: unknown, other: string | null): number {
    assertText(value);
    const text = value;
    assert(other !== null);
    const more = other;
    return text.length + more.length;
}

export function byNever(value: string | undefined): number {
    if (value === undefined) fail();
    const text = value;
    return text.length;
}

export function byAlias(value: string | number): number {
    const isString = typeof value === "string";
    const isNumber = !isString;
    if (isNumber) return value;
    return isString ? value.length : 0;
}

export function byLoop(head: { next: Aged | null } | null): number {
    let here = head;
    let sum = 0;
    while (here !== null && !(here.next === null)) {
        const next = here.next;
        sum += next.age;
        here = null;
    }
    return sum;
}

export function bySwitch(color: Color): number {
    switch (color) {
        case Color.Red: return 1;
        case Color.Green: return 2;
        case Color.Blue: return 3;
        default: {
            const bad: never = color;
            return bad;
        }
    }
}

export function exhaustive(shape: Shape): number {
    switch (shape.kind) {
        case "circle":
            return shape.radius;
        case "square":
            return shape.side;
    }
}

export function inferred(color: "red" | "blue") {
    switch (color) {
        case "red":
            return 1;
        case "blue":
            return 2;
    }
}

export const useInferred = (color: "red" | "blue"): number => inferred(color) + 1;

export function endless(limit: number): number {
    let count = 0;
    while (true) {
        count++;
        if (count > limit) return count;
    }
}

export function literal(): "a" | "b" {
    const first = "a";
    const pair: [number, "a"] = [1, first];
    return pair[1];
}

export function constant(): Color {
    const list = ["x", "y"] as const;
    const flag = true as const;
    const options = { mode: "fast", on: true } as const;
    const mode: "fast" = options.mode;
    const yes: true = flag;
    let level: 1 | 2 = 1;
    const step = 1;
    level = step;
    return list[0] === "x" && mode === "fast" && yes && level === 1 ? Color.Red : Color.Blue;
}

export function evolving(values: number[]): string {
    let text;
    text = null;
    text = "a";
    let total = 0;
    const seen = [];
    for (const value of values) {
        if (!value) continue;
        total = total + value;
        seen.push(value);
    }
    let label = total > 3 ? "many" : "few";
    return text + label + seen.length;
}

export class Store {
    private count?: number;
    size: number;
    constructor(private readonly text: string | null, size: number) {
        this.size = size;
        if (size > 3) {
            return;
        }
        this.count = size;
    }
    set width(value: number) {
        if (value < 0) {
            return;
        }
        this.size = value;
    }
    read(): string {
        if (this.text === null) return "";
        const text = this.text;
        return text.trim();
    }
    total(): number {
        const count = this.count ?? 0;
        if (!this.count) {
            return 0;
        }
        this.check();
        return count + this["size"];
    }
    check(): void {
        if (!this.size) {
            return;
        }
        this.size += 1;
    }
    get(key: string | undefined) {
        if (key === undefined) return undefined;
        const found = key === "a" || key === "b";
        return found ? key.length : undefined;
    }
}

export function captured(value: string | null): () => number {
    const text = value;
    if (text === null) return () => 0;
    return () => text.length;
}

export const arrow = (reply: Reply | undefined): string => {
    const answer = reply && reply.ok ? reply.value : "none";
    if (!reply || !(reply.ok || reply.reason)) {
        return answer;
    }
    const known = reply;
    return known.ok ? known.value : known.reason;
};

function declaredAgain(first: number): boolean {
    var small = first < 1;
    var small = first ? false : true;
    var small = !first;
    return small;
}

function casesThatNarrow(given: { kind: "a"; size: number } | { kind: "b"; name: string }): number {
    switch (true) {
        case given.kind === "a":
            return given.size;
        default:
            return given.name.length;
    }
}

function isLabel(value: unknown) {
    const answer = !(typeof value !== "string");
    return answer;
}

function isKnown(value: string | undefined) {
    return !(value === undefined);
}

function labelOf(given: unknown, other: string | undefined): { other: string } | number {
    if (isLabel(given)) return given.length;
    if (!isKnown(other)) return 0;
    return { other };
}

type Told = { kind: "a"; size: number } | { kind: "b"; size: string };

function told({ kind, size }: Told, ...[first, second]: ["a", number] | ["b", string]): string {
    if (!(kind === "a")) return size.trim();
    if (!(first === "a")) return second.trim();
    return size.toFixed(second);
}

class Holder {
    inner?: { depth: number };
    isFull(): this is { inner: { depth: number } } & this {
        return this.inner !== undefined;
    }
    depth(): number {
        return this.isFull() ? this.inner.depth : 0;
    }
}
