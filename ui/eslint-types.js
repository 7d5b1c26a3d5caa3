// Type information for ESLint. All files share one program, which contains the TypeScript of the components.
// typescript-eslint would create a program for each component.
import { dirname } from "node:path";

import * as svelteParser from "svelte-eslint-parser";
import typescript from "typescript";
import { parser } from "typescript-eslint";

/**
 * Returns a parser that takes types from one program for all files of a tsconfig.json, as they are on disk. Other
 * contents, for example those of an editor, are parsed with the options of ESLint.
 */
export function typedParser(configPath, svelteConfig) {
  let program;
  return {
    ...parser,
    meta: { name: "typed-parser", version: parser.version },
    parseForESLint(code, options) {
      if (!options.projectService) return parser.parseForESLint(code, options);
      program ??= createProgram(configPath, svelteConfig);
      const known = program.getSourceFile(options.filePath)?.text === code;
      const typed = known ? { ...options, programs: [program], projectService: false } : options;
      return parser.parseForESLint(code, typed);
    },
  };
}

function createProgram(configPath, svelteConfig) {
  const { config, error } = typescript.readConfigFile(configPath, typescript.sys.readFile);
  if (error) throw new Error(typescript.flattenDiagnosticMessageText(error.messageText, "\n"));
  const { options, fileNames } = typescript.parseJsonConfigFileContent(
    config,
    typescript.sys,
    dirname(configPath),
    { allowNonTsExtensions: true },
    configPath,
    undefined,
    [{ extension: ".svelte", isMixedContent: true, scriptKind: typescript.ScriptKind.Deferred }],
  );
  const host = typescript.createCompilerHost(options, true);
  const { readFile } = host;
  host.readFile = (path) => {
    const text = readFile(path);
    const derives = text !== undefined && /\.svelte(\.ts)?$/.test(path);
    return derives ? toTypeScript(path, text, svelteConfig) : text;
  };
  return typescript.createProgram(fileNames, options, host);
}

/** Returns the TypeScript that svelte-eslint-parser derives from a component or a module with runes. */
function toTypeScript(filePath, text, svelteConfig) {
  let derived = text;
  const done = new Error("derived");
  const recorder = {
    ...parser,
    parseForESLint(code, options) {
      // svelte-eslint-parser sets this option only for the derived code, which it parses last.
      if (!options.disallowAutomaticSingleRunInference) return parser.parseForESLint(code, options);
      derived = code;
      throw done;
    },
  };
  try {
    svelteParser.parseForESLint(text, { filePath, svelteConfig, parser: recorder });
  } catch (cause) {
    // Syntax errors are reported when the file is linted.
    if (cause !== done) return text;
  }
  return derived;
}
