// Before the extension is packed: the grammar is the repository's own, not a second copy of it.
const { copyFileSync } = require("fs");
const { join } = require("path");

const name = "ppl.tmLanguage.json";
copyFileSync(join(__dirname, "..", "..", "grammar", name), join(__dirname, name));
