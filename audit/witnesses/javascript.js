// Runs functions on inputs, each time in a context of its own, and writes what it saw. `job` stands in front:
// `key`; `typescript`, the folder of a compiler or empty; `isTyped`; and `units`, each with its `texts`,
// expressions of functions, its `inputs`, expressions of lists (what `this` is, and the arguments), and `called`, the
// names of functions elsewhere.
(() => {
  "use strict";
  const vm = require("node:vm");
  const { writeSync } = require("node:fs");
  const compiler = job.typescript ? require(job.typescript) : null;
  const options = { compilerOptions: { target: "es2022", alwaysStrict: false } };
  const strip = (text) => {
    if (!job.isTyped) return text;
    if (compiler) return compiler.transpileModule(text, options).outputText.replace(/;\s*$/, "");
    return require("node:module").stripTypeScriptTypes(text, { mode: "transform" });
  };
  // What stands here is a part of each context, so that all values are of its own.
  const around = new vm.Script(`(() => {
    Math.random = () => 0.375;
    const seen = [];
    const Now = Date;
    globalThis.Date = class extends Now {
      constructor(...all) { all.length ? super(...all) : super(1e12); }
      static now() { return 1e12; }
    };
    const own = ["TypeError", "ReferenceError", "RangeError", "SyntaxError"];
    function show(value, known = []) {
      if (typeof value === "string") return JSON.stringify(value);
      if (typeof value === "bigint") return value + "n";
      if (typeof value === "symbol" || typeof value === "function") return typeof value;
      if (value === null || typeof value !== "object") return Object.is(value, -0) ? "-0" : String(value);
      if (known.includes(value)) return "#" + known.indexOf(value);
      if (known.length > 200) return "…";
      known.push(value);
      if (value instanceof Error) {
        return value.name + (own.includes(value.name) ? "" : ": " + show(value.message, known));
      }
      const tag = Object.prototype.toString.call(value).slice(8, -1);
      if (tag === "Map" || tag === "Set") return tag + show([...value], known);
      if (tag === "Date" || tag === "RegExp") return tag + String(value);
      const told = Object.entries(Object.getOwnPropertyDescriptors(value)).map(
        ([key, one]) => key + ":" + ("value" in one ? show(one.value, known) : "accessor"));
      return tag + "{" + told.join() + "}";
    }
    const callback = (name, value) => function (...all) { seen.push(name + show(all)); return value; };
    globalThis.console = new Proxy({}, { get: (_, name) => (...all) => { seen.push(String(name) + show(all)); } });
    let end = "";
    const tell = (how, value) => { end = how + show(value); };
    function observe(f, input) {
      const given = new Function("callback", "return " + input)(callback);
      const [self, ...all] = given;
      try {
        const value = f.apply(self, all);
        if (value && typeof value.then === "function") value.then((one) => tell("kept ", one), (one) => tell("broke ", one));
        else if (value && typeof value.next === "function" && !Array.isArray(value)) {
          const some = [];
          for (let one = value.next(); !one.done && some.length < 20; one = value.next()) some.push(one.value);
          tell("gave ", some);
        } else tell("returned ", value);
      } catch (error) {
        tell("threw ", error);
      }
      seen.push(show(given));
    }
    const stand = (names) => {
      for (const one of names) if (!(one in globalThis)) globalThis[one] = callback(one, 1);
    };
    return { observe, stand, told: () => [end, ...seen].join("\\n") };
  })()`);
  const run = (script, called, input) => {
    const context = vm.createContext({}, { microtaskMode: "afterEvaluate" });
    try {
      const inner = around.runInContext(context);
      inner.stand(called);
      const made = script.runInContext(context, { timeout: 300 });
      context.$go = () => inner.observe(made, input);
      vm.runInContext("((go) => { delete globalThis.$go; go(); })($go)", context, { timeout: 300 });
      return inner.told();
    } catch (error) {
      return error?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT" ? null : "! " + error?.name;
    }
  };
  const told = job.units.map(({ texts, called, inputs }) => texts.map((text) => {
    let script;
    try {
      script = new vm.Script(strip(text));
    } catch (error) {
      return inputs.map(() => "! " + error?.name);
    }
    let slow = 0;
    return inputs.map((input) => {
      const seen = slow < 2 ? run(script, called, input) : null;
      slow += seen === null;
      return seen;
    });
  }));
  writeSync(1, "\n" + job.key + JSON.stringify(told) + "\n");
  process.exit(0);
})();
