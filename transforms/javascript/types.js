// Answers what TypeScript's compiler concludes of the expressions of functions. The arguments are the folder of
// the compiler and that of a project. Each line that comes in is the text of a function, as JSON. Each line that
// goes out is a list of [first unit, behind the last unit, kinds, is plain], in units of UTF-16 from the first
// sign of the function; or null where the project does not have the function exactly once. No code of the
// project runs.
"use strict";

const path = require("path");
const ts = require(process.argv[2]);
const root = path.resolve(process.argv[3]);

const LETTERS = [
  [ts.TypeFlags.StringLike, "s"],
  [ts.TypeFlags.BigIntLike, "g"],
  [ts.TypeFlags.BooleanLike, "b"],
  [ts.TypeFlags.NumberLike, "n"],
  [ts.TypeFlags.Undefined | ts.TypeFlags.Void, "u"],
  [ts.TypeFlags.Null, "l"],
  [ts.TypeFlags.ESSymbolLike, "y"],
  [ts.TypeFlags.Object | ts.TypeFlags.NonPrimitive, "o"],
];
const VALUES = ts.SymbolFlags.Variable | ts.SymbolFlags.Function | ts.SymbolFlags.Class | ts.SymbolFlags.Enum;
// The properties of these are often written as plain ones, and are not.
const OUTSIDE = /\/(?:lib\.(?:dom|webworker|scripthost)[^/]*\.d\.ts|@types\/(?:node|bun|web)\/.*)$/;
const STANDARD = /\/lib\.(?:es|decorators)[^/]*\.d\.ts$/;

function options() {
  const file = ts.findConfigFile(root, ts.sys.fileExists);
  const read = file ? ts.readConfigFile(file, ts.sys.readFile).config ?? {} : {};
  const host = { ...ts.sys, readDirectory: () => [] };
  const given = ts.parseJsonConfigFileContent(read, host, file ? path.dirname(file) : root).options;
  return {
    target: ts.ScriptTarget.ESNext, ...given, noEmit: true, noUncheckedIndexedAccess: true, composite: false,
    incremental: false, skipLibCheck: true, noLib: false,
  };
}

const used = options();
// Where `null` has no type, every object may be null.
const seesNull = used.strictNullChecks ?? used.strict ?? false;
const files = ts.sys.readDirectory(root, [".ts", ".tsx", ".mts", ".cts"], ["**/node_modules", "**/.git"]);
const program = ts.createProgram(files, used);
const checker = program.getTypeChecker();
const sources = program.getSourceFiles().filter((one) => !one.isDeclarationFile && !/\/node_modules\//.test(one.fileName));
const accessors = new Set();
for (const one of sources) collect(one);

// The names of all properties of the project that may be accessors.
function collect(node) {
  if (ts.isAccessor(node) || ts.isAutoAccessorPropertyDeclaration?.(node)) accessors.add(node.name.getText());
  else if (ts.isCallExpression(node) && /defin|getter|lazy|cached/i.test(node.expression.getText())) {
    for (const one of node.arguments) if (ts.isStringLiteralLike(one)) accessors.add(one.text);
  }
  ts.forEachChild(node, collect);
}

function kinds(type) {
  if (type.flags & ts.TypeFlags.TypeParameter || type.flags & ts.TypeFlags.Instantiable) {
    type = checker.getBaseConstraintOfType(type) ?? type;
  }
  if (type.isUnion()) {
    const parts = type.types.map(kinds);
    return parts.includes("") ? "" : [...new Set(parts.join(""))].sort().join("");
  }
  if (type.isIntersection()) {
    const parts = type.types.map(kinds).filter((one) => one && one !== "o");
    return parts[0] ?? (type.types.some((one) => kinds(one) === "o") ? "o" : "");
  }
  const found = LETTERS.find(([flags]) => type.flags & flags);
  // `{}` is a type of strings, too.
  if (found?.[1] === "o" && type.flags & ts.TypeFlags.Object && !checker.getPropertiesOfType(type).length
      && !checker.getSignaturesOfType(type, ts.SignatureKind.Call).length) return "";
  return found ? found[1] : "";
}

function isSet(letters) {
  return seesNull && letters !== "" && !/[ul]/.test(letters);
}

// A name that several variables of one pattern share a union by is narrowed by the others: its own type counts.
function typeOf(node) {
  while (ts.isNonNullExpression(node) || ts.isParenthesizedExpression(node)) node = node.expression; // `!` may lie
  if (ts.isIdentifier(node)) {
    const symbol = checker.getSymbolAtLocation(node);
    if (symbol?.declarations?.some((one) => ts.isBindingElement(one))) return checker.getTypeOfSymbol(symbol);
  }
  return checker.getTypeAtLocation(node);
}

function isPlainProperty(symbol) {
  if (!symbol || symbol.flags & ts.SymbolFlags.Accessor || accessors.has(symbol.name)) return false;
  return (symbol.declarations ?? []).every((one) => !ts.isAccessor(one) && !OUTSIDE.test(one.getSourceFile().fileName));
}

function isPlainName(node) {
  let symbol = checker.getSymbolAtLocation(node);
  if (node.parent && ts.isShorthandPropertyAssignment(node.parent)) symbol = checker.getShorthandAssignmentValueSymbol(node.parent);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  if (!symbol || !(symbol.flags & (VALUES | ts.SymbolFlags.ValueModule)) || !symbol.declarations?.length) return false;
  return symbol.declarations.every((one) => {
    const file = one.getSourceFile();
    return !OUTSIDE.test(file.fileName) && (STANDARD.test(file.fileName) || ts.isExternalModule(file));
  });
}

// Functions of the standard library that raise nothing and run no other code, by the interface that declares
// them: with plain values as arguments, and (`any`) with whatever values.
const PURE = {
  String: "at charAt charCodeAt codePointAt concat endsWith includes indexOf lastIndexOf padEnd padStart slice " +
    "startsWith substring toLowerCase toString toUpperCase trim trimEnd trimStart valueOf substr split",
  Math: "abs acos asin atan atan2 cbrt ceil clz32 cos exp floor fround hypot imul log log10 log2 max min pow round " +
    "sign sin sqrt tan trunc",
  NumberConstructor: "isFinite isInteger isNaN isSafeInteger parseFloat parseInt __call",
  StringConstructor: "__call", BooleanConstructor: "__call", "": "isFinite isNaN parseFloat parseInt",
};
const PURE_OF_ANY = {
  ArrayConstructor: "isArray", ObjectConstructor: "is", BooleanConstructor: "__call",
  Array: "includes indexOf lastIndexOf slice at", ReadonlyArray: "includes indexOf lastIndexOf slice at",
  Map: "get has", ReadonlyMap: "get has", Set: "has", ReadonlySet: "has", WeakMap: "get has", WeakSet: "has",
};
// These look for a pattern, which may note how far it came.
const SEARCHES = { RegExp: "exec test", String: "match replace replaceAll search split" };
const EMPTY = /^(?:Map|Set|WeakMap|WeakSet)Constructor$/;
const names = (table, holder) => (Object.hasOwn(table, holder) ? table[holder].split(" ") : []);
const setsInstances = sources.some((one) => one.text.includes("hasInstance"));

function isStandard(type, name) {
  const made = type.symbol?.name === name ? type.symbol.declarations : null;
  return !!made && made.some((one) => STANDARD.test(one.getSourceFile().fileName));
}

function isArray(type) {
  return seesNull && (checker.isArrayType(type) || checker.isTupleType(type)
    || isStandard(type, "RegExpExecArray") || isStandard(type, "RegExpMatchArray"));
}

function isPlainCall(node) {
  const made = checker.getResolvedSignature(node)?.declaration;
  if (!made || !STANDARD.test(made.getSourceFile().fileName)) return false;
  const holder = made.parent?.name?.text ?? "";
  if (ts.isNewExpression(node)) return EMPTY.test(holder) && !node.arguments?.length;
  const called = node.expression, name = made.name?.text ?? "__call";
  if (ts.isOptionalChain(node) || !(ts.isIdentifier(called) ? isPlainName(called) : isPlain(called))) return false;
  if (names(SEARCHES, holder).includes(name) && !node.arguments.some(ts.isSpreadElement)) {
    const [first, ...rest] = node.arguments, one = holder === "RegExp" ? called.expression : first;
    const texts = holder === "RegExp" ? [first] : [called.expression, ...rest];
    if (one && isStandard(typeOf(one), "RegExp") && texts.every((each) => each && kinds(typeOf(each)) === "s")
        && name !== "replaceAll") return "search";
  }
  if (names(PURE_OF_ANY, holder).includes(name)) return node.arguments.every((one) => !ts.isSpreadElement(one));
  if (holder === "ObjectConstructor" && name === "keys") return isSet(kinds(typeOf(node.arguments[0])));
  // `"a".split(b)` asks an object for a method of its own.
  const isFlat = (one) => !ts.isSpreadElement(one) && /^[nsbul]+$/.test(kinds(typeOf(one)));
  if (holder === "String" && kinds(typeOf(called.expression)) !== "s") return false;
  return names(PURE, holder).includes(name) && node.arguments.every(isFlat);
}

function isPlainTest(node) {
  if (node.operatorToken.kind !== ts.SyntaxKind.InstanceOfKeyword || setsInstances) return false;
  let symbol = checker.getSymbolAtLocation(node.right);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  return !!symbol && !!(symbol.flags & ts.SymbolFlags.Class) && isPlain(node.right);
}

function isPlainPattern(node) {
  const isName = (one) => ts.isOmittedExpression(one) || (!one.initializer && ts.isIdentifier(one.name));
  return isArray(checker.getTypeAtLocation(node)) && ts.isVariableDeclaration(node.parent) && !!node.parent.initializer
    && isArray(typeOf(node.parent.initializer)) && node.elements.every(isName);
}

function isNumber(node) {
  return kinds(typeOf(node)) === "n";
}

function isPlain(node) {
  if (ts.isIdentifier(node)) {
    const above = node.parent;
    if (ts.isBindingElement(above) && (above.propertyName ?? above.name) === node) {
      if (above.initializer || above.dotDotDotToken || !ts.isIdentifier(above.name)) return false;
      const holder = checker.getTypeAtLocation(above.parent);
      return isSet(kinds(holder)) && isPlainProperty(checker.getPropertyOfType(holder, node.text));
    }
    return isPlainName(node);
  }
  if (ts.isPropertyAccessExpression(node)) {
    if (node.expression.kind === ts.SyntaxKind.SuperKeyword) return false;
    if (ts.isOptionalChain(node) && !node.questionDotToken) return false;
    const holder = kinds(typeOf(node.expression));
    if (!holder || !seesNull || (!node.questionDotToken && !isSet(holder))) return false;
    return isPlainProperty(checker.getSymbolAtLocation(node.name));
  }
  if (ts.isElementAccessExpression(node)) {
    if (ts.isOptionalChain(node)) return false;
    return isArray(typeOf(node.expression)) && isNumber(node.argumentExpression);
  }
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) return isPlainCall(node);
  if (ts.isBinaryExpression(node)) return isPlainTest(node);
  if (ts.isSpreadElement(node)) return isArray(typeOf(node.expression));
  if (ts.isForOfStatement(node)) return !node.awaitModifier && isArray(typeOf(node.expression));
  if (ts.isArrayBindingPattern(node)) return isPlainPattern(node);
  return false;
}

function isWritable(node) {
  const symbol = checker.getSymbolAtLocation(node.name ?? node);
  return !!symbol && !(ts.getCheckFlags?.(symbol) & 8) && (symbol.declarations ?? []).every((one) =>
    !(ts.getCombinedModifierFlags(one) & ts.ModifierFlags.Readonly));
}

function find(text) {
  let found = null;
  for (const file of sources) {
    for (let at = file.text.indexOf(text); at >= 0; at = file.text.indexOf(text, at + 1)) {
      if (found) return null;
      found = [file, at];
    }
  }
  return found;
}

function answer(text) {
  const found = find(text);
  if (!found) return null;
  const [file, first] = found, last = first + text.length, told = [];
  const visit = (node) => {
    const start = node.getStart(file);
    if (start >= last || node.end <= first) return;
    const isValue = (ts.isExpression(node) || ts.isIdentifier(node)) && !ts.isPartOfTypeNode(node);
    const isPart = ts.isForOfStatement(node) || ts.isArrayBindingPattern(node);
    if (start >= first && node.end <= last && (isValue || isPart)) {
      const letters = isValue && !ts.isSpreadElement(node) ? kinds(typeOf(node)) : "";
      const seen = isPlain(node);
      let plain = seen ? 1 : 0;
      if (seen === "search" || (seen && ts.isPropertyAccessExpression(node) && isWritable(node))) plain = 2;
      if (letters || plain) told.push([start - first, node.end - first, letters, plain]);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return told;
}

process.stdout.write("ready\n");
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  let told = null;
  try { told = answer(JSON.parse(line)); } catch (error) { process.stderr.write(`${error.stack}\n`); }
  process.stdout.write(JSON.stringify(told) + "\n");
});
