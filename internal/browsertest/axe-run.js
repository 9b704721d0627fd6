axe.run(document, {
	resultTypes: ["violations"],
	runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}).then(result => {
	if (result.passes.length == 0) return ["axe-core has run no rule"];
	return result.violations.flatMap(v => v.nodes.map(n => v.id + ": " + v.help + ": " + n.html.slice(0, 120) + " " + n.any.concat(n.all, n.none).map(c => c.message).join("; ")));
})
