package pages

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
	return append(all,
		row{route: "GET log", state: "empty", path: "log"},
		row{route: "GET log", state: "full", path: "log?who=none&from=2026-01-01"},
		row{route: "GET log", state: "full", path: "log", who: "reader"},
		row{route: "GET log", state: "errors", path: "log?kind=x&from=never&to=<script>", status: 422},
		row{route: "GET log/{seq}", state: "errors", path: "log/1?head=<script>", status: 422},
		row{route: "GET name/{name}/proof", state: "errors", path: nameAt(alb) + "/proof", status: 404},
	)
}
