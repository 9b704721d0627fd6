package pages

import "net/url"

func logRows() (all []row) {
	for _, state := range []string{"full", "hostile"} {
		all = append(all,
			row{route: "GET log", state: state, path: "log"},
			row{route: "GET log/{seq}", state: state, path: "log/8"},
			row{route: "GET log/{seq}", state: state, path: "log/20"},
			row{route: "GET log/{seq}/proof.json", state: state, path: "log/1/proof.json", file: true},
			row{route: "GET name/{name}/proof", state: state, path: nameAt(alb) + "/proof?revision=1", status: 303},
		)
	}
	all = append(append(all, missRows()...), settingsRows()...)
	all = append(all, statisticsRows()...)
	all = append(all, giveRows()...)
	all = append(all, mintRows()...)
	return append(all,
		row{route: "GET log", state: "empty", path: "log"},
		row{route: "GET log", state: "full", path: "log?who=none&from=2026-01-01"},
		row{route: "GET log", state: "full", path: "log", who: "reader"},
		row{route: "GET log", state: "errors", path: "log?kind=x&from=never&to=<script>", status: 422},
		row{route: "GET log/{seq}", state: "errors", path: "log/1?head=<script>", status: 422},
		row{route: "GET name/{name}/proof", state: "errors", path: nameAt(alb) + "/proof", status: 404},
	)
}

func missRows() (all []row) {
	for _, state := range []string{"full", "hostile"} {
		all = append(all,
			row{route: "GET misses", state: state, path: "misses"},
			row{route: "GET misses/alias", state: state, path: "misses/alias?name=" + url.QueryEscape(longName()) + "&of=" + alb},
		)
	}
	return append(all,
		row{route: "GET misses", state: "empty", path: "misses?prefix=urn:none&hidden=1"},
		row{route: "GET misses", state: "full", path: "misses?rare=1", who: "reader"},
		row{route: "POST misses", state: "errors", path: "misses", form: "name=no+name&hidden=1", status: 400},
		row{route: "POST misses/alias", state: "errors", path: "misses/alias", form: "name=urn:dns:example.org:x&of=<script>"},
	)
}

func settingsRows() []row {
	return []row{
		{route: "GET settings", state: "full", path: "settings?reloaded=2"},
		{route: "GET settings", state: "hostile", path: "settings?reloaded=<script>"},
		{route: "GET settings", state: "errors", path: "settings", who: "owner", status: 403},
		{route: "POST settings", state: "errors", path: "settings", who: "owner", form: "x=1", status: 403},
	}
}

func statisticsRows() (all []row) {
	for _, state := range []string{"full", "hostile"} {
		all = append(all,
			row{route: "GET statistics", state: state, path: "statistics"},
			row{route: "GET statistics/report", state: state, path: "statistics/report"},
			row{route: "GET statistics/report.csv", state: state, path: "statistics/report.csv", file: true},
			row{route: "GET statistics/changes.csv", state: state, path: "statistics/changes.csv", file: true},
			row{route: "GET statistics/resolutions.csv", state: state, path: "statistics/resolutions.csv", file: true},
			row{route: "GET statistics/people.csv", state: state, path: "statistics/people.csv", file: true},
			row{route: "GET statistics/names.csv", state: state, path: "statistics/names.csv", file: true},
			row{route: "GET links", state: state, path: "links"},
			row{route: "GET links/copy", state: state, path: "links/copy?name=" + url.QueryEscape(map[string]string{"full": alb, "hostile": wild}[state]), status: 503}, // copySite has a server with an archive
		)
	}
	return append(all,
		row{route: "GET statistics", state: "empty", path: "statistics?month=2001-02"},
		row{route: "GET statistics", state: "errors", path: "statistics?month=<script>", status: 400},
		row{route: "GET links", state: "empty", path: "links"},
		row{route: "POST links/copy", state: "errors", path: "links/copy", form: "name=no+name&copy=javascript:x", status: 400},
	)
}

func giveRows() (all []row) {
	for _, state := range []string{"full", "hostile"} {
		for _, file := range []string{"/qr.svg", "/qr.png"} {
			all = append(all, row{route: "GET name/{name}" + file, state: state, path: nameAt(web) + file, file: true})
		}
		all = append(all, row{route: "GET name/{name}/record.json", state: state, path: nameAt(alb) + "/record.json?at=2026-11-22", file: true})
	}
	return append(all, row{route: "GET name/{name}/qr.svg", state: "errors", path: nameAt(alb) + "/qr.svg", status: 404},
		row{route: "GET name/{name}/record.json", state: "errors", path: nameAt(alb) + "/record.json?at=never", status: 400})
}

// web is a name that is the URL at which readers reach it.
const web = "https://purl.example/net/x"

func mintRows() (all []row) {
	const made = "?after=0&until=100&who=u-colleague"
	for _, state := range []string{"full", "hostile"} {
		all = append(all,
			row{route: "GET mint", state: state, path: "mint?prefix=<script>&template=<b>"},
			row{route: "GET mint/made", state: state, path: "mint/made" + made},
			row{route: "GET mint/made.csv", state: state, path: "mint/made.csv" + made, file: true},
		)
	}
	return append(all,
		row{route: "POST mint", state: "errors", path: "mint", form: "prefix=x+y&template=<b>&count=none"},
		row{route: "GET mint", state: "errors", path: "mint", who: "reader", status: 403},
	)
}
