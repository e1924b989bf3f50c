// Reads functions of JavaScript and TypeScript beside their variants, with readers that are not codeaudit's: the
// parser of node, acorn (which node has inside), and TypeScript's compiler, whose folder is the argument where there
// is one. Each line that comes in is a list of [language, before, after, rule, file before, file after]; `rule` is
// `rename`, `order` or empty. Each line that goes out is a list of [trees, parses, told], each 1 (same), 0 (not) or
// null (not known). No code runs: the texts are only parsed.
"use strict";

const vm = require("node:vm");
const folder = process.argv[2];
const ts = folder ? require(folder) : null;
let acorn = null;
try { acorn = require("internal/deps/acorn/acorn/dist/acorn"); } catch { /* this node has it elsewhere */ }

const GOALS = [["script", "", ""], ["module", "", ""], ["script", "class _ {\n", "\n}"], ["module", "class _ {\n", "\n}"]];

// What node's parser takes

function takes(text, [kind, head, tail]) {
  try {
    if (kind === "script") new vm.Script(head + text + tail);
    else new vm.SourceTextModule(head + text + tail);
    return true;
  } catch { return false; }
}

function parses(before, after) {
  const goals = GOALS.filter((goal) => takes(before, goal));
  return goals.length ? Number(goals.every((goal) => takes(after, goal))) : null;
}

// Trees as texts. Variables of functions are numbered in the order in which they occur; with `order` they keep their
// names, and the statements of each list are sorted.

class Names {
  constructor(order) { this.order = order; this.known = new Map(); this.labels = []; }
  number(variable, name) {
    if (this.order || !variable) return name;
    if (!this.known.has(variable)) this.known.set(variable, `#${this.known.size}`);
    return this.known.get(variable);
  }
  label(name) {
    const at = this.labels.lastIndexOf(name);
    return this.order || at < 0 ? name : `#L${at}`;
  }
  list(parts) { return `[${(this.order ? parts.sort() : parts).join(";")}]`; }
}

// With acorn, whose trees have no variables

const isFunction = (node) => /Function/.test(node.type);
const isNameless = (node) => !!node && (node.type === "ArrowFunctionExpression" || (/^(?:Function|Class)Expression$/.test(node.type) && !node.id));
const parts = (node) => Object.values(node).flat().filter((one) => one && typeof one.type === "string");
const SKIPPED = new Set(["type", "start", "end", "raw", "shorthand"]);
// Code that may read names from a text or an object: no reader knows its variables.
const DYNAMIC = /(?<![.\w$])(?:eval|with)\s*\(/;
const FIXED = { MemberExpression: "property", Property: "key", MethodDefinition: "key", PropertyDefinition: "key" };

function declared(pattern, found) {
  if (!pattern) return found;
  if (pattern.type === "Identifier") found.push(pattern.name);
  else if (pattern.type === "AssignmentPattern") declared(pattern.left, found);
  else if (pattern.type === "Property") declared(pattern.value, found);
  else if (pattern.type === "RestElement") declared(pattern.argument, found);
  else for (const one of pattern.properties ?? pattern.elements ?? []) declared(one, found);
  return found;
}

function vars(node, found) {
  if (node.type === "VariableDeclaration" && node.kind === "var") for (const one of node.declarations) declared(one.id, found);
  // Outside of strict code a function of a block is a variable around the block, too (Annex B.3.3).
  for (const one of parts(node)) if (one.type === "FunctionDeclaration") found.push(one.id.name);
  for (const one of parts(node)) if (!isFunction(one) && !/^Class|StaticBlock/.test(one.type)) vars(one, found);
  return found;
}

function lexical(statements) {
  return statements.flatMap((one) => {
    while (one.type === "LabeledStatement") one = one.body;
    if (one.type === "VariableDeclaration" && one.kind !== "var") return one.declarations.flatMap((each) => declared(each.id, []));
    return /^(?:Function|Class)Declaration$/.test(one.type) ? [one.id.name] : [];
  });
}

function within(scope, names) {
  const own = new Map(scope.own);
  for (const name of names) own.set(name, { name });
  return { own };
}

function inside(node, scope) {
  switch (node.type) {
    case "BlockStatement": return within(scope, lexical(node.body));
    case "StaticBlock": return within(scope, [...lexical(node.body), ...vars(node, [])]);
    case "SwitchStatement": return within(scope, lexical(node.cases.flatMap((one) => one.consequent)));
    case "CatchClause": return within(scope, declared(node.param, []));
    case "ForStatement": return within(scope, node.init ? lexical([node.init]) : []);
    case "ForInStatement": case "ForOfStatement": return within(scope, lexical([node.left]));
    case "ClassExpression": return within(scope, node.id ? [node.id.name] : []);
    default: return scope;
  }
}

function shownFunction(node, scope, names) {
  if (node.type === "FunctionExpression" && node.id) scope = within(scope, [node.id.name]);
  const head = node.id ? named(node.id, scope, names) : "";
  const given = node.params.flatMap((one) => declared(one, []));
  const outer = within(scope, given), labels = names.labels;
  names.labels = [];
  const parameters = node.params.map((one) => shown(one, outer, names));
  let body = outer;
  if (node.body.type === "BlockStatement") {
    body = within(outer, [...vars(node.body, []).filter((one) => !given.includes(one)), ...lexical(node.body.body)]);
  }
  const text = node.body.type === "BlockStatement" ? statements(node.body.body, body, names) : shown(node.body, body, names);
  names.labels = labels;
  return `(${node.type} ${head} ${node.async} ${node.generator} (${parameters}) ${text})`;
}

function named(node, scope, names) { return names.number(scope.own.get(node.name), node.name); }

function statements(list, scope, names) { return names.list(list.map((one) => shown(one, scope, names))); }

function shown(node, scope, names) {
  if (node === null || typeof node !== "object") return typeof node === "bigint" ? `${node}n` : JSON.stringify(node) ?? "";
  if (Array.isArray(node)) return `[${node.map((one) => shown(one, scope, names))}]`;
  if (!node.type) return JSON.stringify(node); // the text of a template, the parts of a pattern of text
  if (node.type === "Identifier") return named(node, scope, names);
  if (node.type === "Literal") return node.regex ? String(node.raw) : shown(node.value, scope, names);
  if (isFunction(node)) return shownFunction(node, scope, names);
  if (node.type === "LabeledStatement") {
    names.labels.push(node.label.name);
    const text = `(label ${names.label(node.label.name)} ${shown(node.body, scope, names)})`;
    names.labels.pop();
    return text;
  }
  if (/^(?:Break|Continue)Statement$/.test(node.type)) return `(${node.type} ${node.label ? names.label(node.label.name) : ""})`;
  if (/^(?:MetaProperty|PrivateIdentifier|Import(?!Expression)|Export(?:Specifier|All))/.test(node.type)) return JSON.stringify(node, (key, one) => (SKIPPED.has(key) ? undefined : one));
  const around = scope;
  scope = inside(node, scope);
  const found = [node.type];
  const target = node.left ?? node.id, value = node.right ?? node.init;
  if (/^(?:Assignment|VariableDeclarator)/.test(node.type) && target.type === "Identifier" && isNameless(value)) found.push(target.name);
  for (const [key, one] of Object.entries(node)) {
    if (SKIPPED.has(key)) continue;
    if (FIXED[node.type] === key && !node.computed) found.push(one.name ?? shown(one, scope, names));
    else if (key === "body" && /^(?:Block|Static|Program)/.test(node.type)) found.push(statements(one, scope, names));
    else if (key === "consequent" && node.type === "SwitchCase") found.push(statements(one, scope, names));
    else found.push(`${key}=${shown(one, key === "discriminant" ? around : scope, names)}`);
  }
  return `(${found.join(" ")})`;
}

function acornTree(text, [sourceType, head, tail], order) {
  const tree = acorn.parse(head + text + tail, { ecmaVersion: "latest", sourceType });
  return shown(tree, { own: new Map() }, new Names(order));
}

function acornTrees(before, after, order) {
  if (DYNAMIC.test(before) || DYNAMIC.test(after)) return null;
  for (const goal of GOALS) {
    let first;
    try { first = acornTree(before, goal, order); } catch { continue; }
    try { return Number(first === acornTree(after, goal, order)); } catch { return 0; }
  }
  return null;
}

// With TypeScript's compiler, whose binder knows the variables

const libraries = new Map();
const STRICT = { target: 99, module: 99, strict: true, noEmit: true, types: [], allowJs: true, jsx: 1, noResolve: true };
// A message that proposes a name like the unknown one has a code of its own.
const PLAIN = { 2552: 2304, 2551: 2339, 2561: 2353, 2724: 2305, 2833: 2503 };

function parsed(text, isTyped) {
  const kinds = isTyped ? [ts.ScriptKind.TS, ts.ScriptKind.TSX] : [ts.ScriptKind.JS];
  // What a method uses of its class is not known; so it may be anything.
  const around = isTyped ? "class _ extends (null as any) {\n" : "class _ {\n";
  for (const [head, tail] of [["", ""], [around, "\n}"]]) {
    for (const kind of kinds) {
      const name = `/text${parsed.count++}.${["", "js", "jsx", "ts", "tsx"][kind]}`;
      // A text of its own module has variables of its own.
      const file = ts.createSourceFile(name, `${head}${text}${tail}\nexport {};\n`, { languageVersion: 99 }, true, kind);
      if (!file.parseDiagnostics.length) return file;
    }
  }
  return null;
}
parsed.count = 0;

function programOf(files, withLibrary) {
  const own = new Map(files.map((one) => [one.fileName, one]));
  const host = {
    getSourceFile(name) {
      if (own.has(name)) return own.get(name);
      if (!libraries.has(name)) libraries.set(name, ts.sys.fileExists(name) ? ts.createSourceFile(name, ts.sys.readFile(name), 99, true) : undefined);
      return libraries.get(name);
    },
    getDefaultLibFileName: () => ts.combinePaths(ts.getDirectoryPath(ts.sys.getExecutingFilePath()), "lib.esnext.d.ts"),
    getDefaultLibLocation: () => ts.getDirectoryPath(ts.sys.getExecutingFilePath()),
    writeFile() {}, getCurrentDirectory: () => "/", getCanonicalFileName: (one) => one, useCaseSensitiveFileNames: () => true,
    getNewLine: () => "\n", fileExists: (name) => own.has(name), readFile: () => undefined,
  };
  const more = withLibrary ? { lib: ["lib.esnext.d.ts"] } : { noLib: true };
  return ts.createProgram([...own.keys()], { ...STRICT, ...more }, host);
}

function isVariable(symbol) {
  if (!symbol || !(symbol.flags & ts.SymbolFlags.Variable)) return false;
  return (symbol.declarations ?? []).some((one) => ts.findAncestor(one.parent, (above) => ts.isFunctionLike(above)));
}

function compilerTree(file, checker, order) {
  const names = new Names(order);
  const word = (symbol, text) => names.number(isVariable(symbol) ? symbol : null, text);
  const isWithoutName = (node) => !!node && (ts.isArrowFunction(node) || ((ts.isFunctionExpression(node) || ts.isClassExpression(node)) && !node.name));
  const name = (node) => {
    const { parent } = node;
    const isFixed = parent.name === node && (ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent) || ts.isClassElement(parent) || ts.isTypeElement(parent) || ts.isEnumMember(parent));
    if (isFixed || parent.propertyName === node || ts.isMetaProperty(parent)) return node.text;
    if (parent.label === node) return names.label(node.text);
    return word(checker.getSymbolAtLocation(node), node.text);
  };
  const show = (node) => {
    if (ts.isIdentifier(node)) return name(node);
    const found = [node.kind, node.operator, node.token, node.keywordToken, node.isTypeOnly];
    if (ts.isVariableDeclarationList(node)) found.push(node.flags & ts.NodeFlags.BlockScoped);
    if (ts.isForStatement(node)) found.push(!!node.initializer, !!node.condition);
    if (ts.isLiteralExpression(node) || ts.isTemplateLiteralToken(node) || ts.isJsxText(node) || ts.isPrivateIdentifier(node)) found.push(JSON.stringify(node.text));
    if (node.initializer && node.name && ts.isIdentifier(node.name) && isWithoutName(node.initializer)) found.push(node.name.text);
    if (ts.isBinaryExpression(node) && ts.isIdentifier(node.left) && isWithoutName(node.right)) found.push(node.left.text);
    if (ts.isShorthandPropertyAssignment(node)) {
      found[0] = ts.SyntaxKind.PropertyAssignment;
      found.push(node.name.text, word(checker.getShorthandAssignmentValueSymbol(node), node.name.text));
      if (node.objectAssignmentInitializer) found.push(show(node.objectAssignmentInitializer));
      return `(${found.join(" ")})`;
    }
    if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent) && !node.propertyName && !node.dotDotDotToken) found.push(node.name.text);
    if (ts.isLabeledStatement(node)) names.labels.push(node.label.text);
    const list = [], last = [];
    ts.forEachChild(node, (one) => { (node.statements?.includes(one) ? last : list).push(show(one)); });
    if (ts.isLabeledStatement(node)) names.labels.pop();
    return `(${[...found, ...list, ...(last.length ? [names.list(last)] : [])].join(" ")})`;
  };
  return show(file);
}

function compilerAnswers(units) {
  const isTyped = units[0][0] === "typescript";
  const read = new Map(), file = (text) => {
    if (!read.has(text)) read.set(text, parsed(text, isTyped));
    return read.get(text);
  };
  for (const [, before, after, , first, second] of units) for (const one of [before, after, first, second]) if (one) file(one);
  const program = programOf([...read.values()].filter(Boolean), isTyped), checker = program.getTypeChecker();
  const told = (text) => program.getSemanticDiagnostics(file(text)).map(({ code }) => PLAIN[code] ?? code).sort().join();
  return units.map(([, before, after, rule, first, second]) => {
    if (!file(before) || [before, after].some((one) => DYNAMIC.test(one))) return [null, null];
    if (!file(after)) return [0, null];
    const trees = Number(compilerTree(file(before), checker, rule === "order") === compilerTree(file(after), checker, rule === "order"));
    const [one, other] = first && file(first) && file(second) ? [first, second] : [before, after];
    return [trees, isTyped ? Number(told(one) === told(other)) : null];
  });
}

function answers(units) {
  const found = units.map(([language, before, after, rule]) => {
    const isPlain = language === "javascript";
    return [isPlain && acorn ? acornTrees(before, after, rule === "order") : null, isPlain ? parses(before, after) : null, null];
  });
  const rest = units.map((_, place) => place).filter((place) => ts && found[place][0] === null);
  for (const language of ["javascript", "typescript"]) {
    const those = rest.filter((place) => units[place][0] === language);
    if (!those.length) continue;
    compilerAnswers(those.map((place) => units[place])).forEach(([trees, told], at) => {
      found[those[at]][0] = trees;
      found[those[at]][2] = told;
    });
  }
  return found;
}

process.stdout.write("ready\n");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  let told = null;
  try { told = answers(JSON.parse(line)); } catch (error) { process.stderr.write(`${error.stack}\n`); }
  process.stdout.write(JSON.stringify(told) + "\n");
});
