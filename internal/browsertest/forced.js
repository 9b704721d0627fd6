// What cannot be told from its surroundings when the browser replaces all colours.
(() => {
	const faults = [];
	const line = (e, kind) => { const s = getComputedStyle(e); return s[kind + "Style"] != "none" && parseFloat(s[kind + "Width"]) >= 1; };
	if (!matchMedia("(forced-colors: active)").matches) faults.push("the browser does not replace colours");
	for (const e of document.querySelectorAll("button, .button, input[type=text], textarea, select, mark, .status, .notice, .warning, .faults, .invalid")) {
		if (!e.checkVisibility()) continue;
		const s = getComputedStyle(e);
		if (s.forcedColorAdjust != "auto") faults.push(e.outerHTML.slice(0, 90) + " keeps its own colours");
		if (!line(e, "borderLeft") && !line(e, "outline")) faults.push(e.outerHTML.slice(0, 90) + " has no line around it");
		if (s.color == s.backgroundColor) faults.push(e.outerHTML.slice(0, 90) + " has text in the colour of its background");
	}
	return faults;
})()
