({
	// name describes an element.
	name(e) {
		const what = e.localName + (e.type == "radio" || e.type == "checkbox" ? "[" + e.type + "]" : "");
		if (e.localName == "a") return what + " " + (e.closest(".skip") ? "skip" : decodeURIComponent(new URL(e.href).pathname + new URL(e.href).search)).slice(0, 100);
		if (e.type == "radio") return what + " " + e.name;
		if (e.matches(".table")) return what + " " + (e.querySelector("caption")?.textContent || "");
		return what + " " + (e.id || (e.name ? e.name + "=" + e.value : "") || e.textContent.trim()).slice(0, 100);
	},
	// all returns the elements that Tab must reach, in their order in the document.
	all() {
		document.activeElement.blur();
		scrollTo(0, 0);
		document.body.tabIndex = -1; // so that Tab begins there
		document.body.focus();
		document.body.removeAttribute("tabindex");
		const all = [];
		for (const e of document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex], .table")) {
			if (e.tabIndex < 0 || e.disabled || e.type == "hidden" || !e.checkVisibility()) continue;
			if (e.matches(".table") && e.scrollWidth <= e.clientWidth && !e.hasAttribute("tabindex")) continue;
			if (e.type == "radio") { // Tab reaches one of a group
				const group = [...document.getElementsByName(e.name)].filter(o => o.form == e.form);
				if (e != (group.find(o => o.checked) || group[0])) continue;
			}
			all.push(this.name(e));
		}
		return all;
	},
	// now returns the element that has the focus, and what is wrong with it.
	now() {
		const e = document.activeElement;
		if (!e || e == document.body || e == document.documentElement) return ["nothing"];
		const all = [this.name(e)], s = getComputedStyle(e), r = e.getClientRects()[0];
		if (s.outlineStyle == "none" || parseFloat(s.outlineWidth) < 2) all.push("the focus on " + this.name(e) + " cannot be seen");
		const at = (x, y) => {
			const there = document.elementFromPoint(r.left + Math.min(r.width, innerWidth) * x, r.top + Math.min(r.height, innerHeight) * y);
			return there && (e.contains(there) || there.contains(e) && there != document.body && there != document.documentElement);
		};
		if (!at(0.5, 0.5) && !at(0.5, 0.1) && !at(0.5, 0.9)) all.push(this.name(e) + " is not in sight while it has the focus, at " + r.left + ", " + r.top);
		return all;
	},
})
