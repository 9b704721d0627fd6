// What is wider than the window, cut off, too small to hit, or a field without a label.
(() => {
	const faults = [], show = e => e.outerHTML.slice(0, 90);
	const off = e => e.closest(".skip, .first"); // these are out of sight until they have the focus
	const wide = document.documentElement.scrollWidth - innerWidth;
	if (wide > 0) faults.push(wide + " px wider than the window");
	const scrolls = e => {
		for (let p = e.parentElement; p && p != document.body; p = p.parentElement)
			if (/auto|scroll/.test(getComputedStyle(p).overflowX)) return true;
		return false;
	};
	for (const e of document.body.querySelectorAll("*")) {
		const r = e.getBoundingClientRect(), style = getComputedStyle(e);
		if (r.width == 0 || r.height == 0 || off(e) || scrolls(e) || !e.checkVisibility()) continue;
		if (r.left < -1 || r.right > innerWidth + 1) faults.push(show(e) + " reaches from " + r.left + " to " + r.right);
		if (/hidden|clip/.test(style.overflowX) && !e.matches("input, textarea, select") && e.scrollWidth > e.clientWidth + 1) faults.push(show(e) + " is cut off");
	}
	for (const e of document.querySelectorAll("a, button, select, textarea, summary, input:not([type=hidden])")) {
		if (off(e) || !e.checkVisibility()) continue;
		const r = e.getBoundingClientRect();
		if (r.height < 24 || r.width < 8) faults.push(show(e) + " is " + r.width + " x " + r.height);
	}
	for (const e of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
		if (e.labels.length == 0 && !e.ariaLabel) faults.push(show(e) + " has no label");
	return faults;
})()
