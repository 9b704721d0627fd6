package main

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// howto is the directory of the pages for operators, as their paths below begin.
const howto = "../../docs/howto/"

// machineBlocks says which test runs the blocks ```console skip=REASON of a page on a machine of
// its own: all of them, in order (make test-clients).
var machineBlocks = []struct{ page, reason, test string }{
	{"production.md", "machine", "TestClientGuide"},
	{"production/upgrade.md", "machine", "TestClientGuide"},
	{"production/disaster.md", "machine", "TestClientGuide"},
	{"production/container.md", "machine", "TestClientGuide"},
	{"back-up-and-restore.md", "machine", "TestClientGuide"},
	{"watch-the-service.md", "machine", "TestClientGuide"},
	{"repair-wrong-times.md", "machine", "TestClientGuide"},
	{"run-the-service.md", "machine", "TestClientGuide"},
	{"install.md", "machine", "TestClientGuide"},
	{"back-up-and-restore.md", "database", "TestClientGuide"},
	{"run-several-servers.md", "database", "TestClientGuide"},
	{"production/disaster.md", "database", "TestClientGuide"},
	{"production/nginx.md", "machine", "TestClientProxies"},
	{"production/caddy.md", "machine", "TestClientProxies"},
	{"production/apache.md", "machine", "TestClientProxies"},
	{"put-a-proxy-in-front.md", "machine", "TestClientProxies"},
}

// notRun has the commands of documents that no test runs as they are, and why.
var notRun = []struct{ page, why, commands string }{
	{"install.md", "it needs a signed release; TestPackageSums makes and checks one (make test-packages)", `
ssh-keygen -Y verify -f allowed_signers -I nomen-release -n file -s SHA256SUMS.sig < SHA256SUMS
sha256sum --ignore-missing -c SHA256SUMS`},
	{"install.md", "TestClientGuide follows production.md, which installs the package; TestPackageDebian and TestPackageRPM install both", `
sudo apt install ./nomen_1.2.3-1_amd64.deb
nomen --version
sudo rpm -i nomen-1.2.3-1.x86_64.rpm
sudo systemctl enable --now nomen`},
	{"install.md", "TestClientGuide runs the image as container.md says, and TestPackageImage with skopeo", `
podman load -i nomen-1.2.3-oci.tar
podman run -d --name nomen -p 4500:4500 -v nomen:/var/lib/nomen localhost/nomen:1.2.3
podman exec nomen /usr/bin/nomen health`},
	{"install.md", "scripts/release/release-check.sh builds a release twice and compares it (make release-check)", `
make release SIGN_KEY=none
diff dist/1.2.3/SHA256SUMS SHA256SUMS`},
	{"fetch-resources.md", "it opens a session on another host; TestFetchScripts has hosts of its own", `
nomen fetch --session 'telnet=telnet [-l {user}] {host} [{port}]' telnet://guest@library.example.org
nomen fetch --gateway 'wais=http://wais.example.org/?{uri}' 'wais://quake.example.org/drafts?urn'`},
	{"report.md", "it needs a mail server; TestReportMail runs it with a sendmail program", `
nomen stats report --test`},
	{"test-a-resolver.md", "it asks another host; TestConform and TestClientProxies run the same against servers of their own", `
nomen conform --name urn:dns:example.org:alb002 --retired urn:dns:example.org:alb003 --moved urn:dns:example.org:alb001 https://names.example.org/`},
	{"replay-an-access-log.md", "it asks another host; the script replay has an old resolver of its own", `
nomen replay --log access.log --any-redirect --against https://old.example.org/`},
	{"publish-a-resolver-in-dns.md", "it asks DNS on the internet; TestDiscoverScripts has a DNS server of its own", `
nomen zone check urn:nbn:fi --host names.example.org`},
	{"resolve-names.md", "it asks DNS on the internet; TestDiscoverScripts has a DNS server of its own", `
nomen discover --table resolvers.txt urn:dns:example.org:alb002`},
	{"run-a-gateway.md", "it serves a network until it is stopped; the tests of the gateway use the options", `
nomen serve --data ./names --public-url https://urn.example.org --ask-others own --own-users 192.0.2.0/24
nomen serve --data ./names --proxy own --own-users 192.0.2.0/24 --connect 443
nomen serve --data ./names --gopher :70 --gopher-host gopher.example.org`},
	{"run-the-service.md", "it serves port 443 until it is stopped; the tests of certificates use the options", `
nomen serve --listen :443 --tls-cert cert.pem --tls-key key.pem`},
	{"sign-in.md", "the link is a secret of ten minutes, and the provider is another host; the scripts signin and user run both commands", `
nomen sign-in-link
nomen user add --name 'Zoe Zhang' --subject 'https://login.example.org/realms/staff 8f7c' --role editor --prefix urn:nbn:fi`},
	{"hand-over-names.md", "it needs the keys of two logs; the script handover makes them", `
nomen handover export --log-key /etc/nomen/log.key --successor new.example/-/log+1e5ebf05+AQh9… names.handover
curl -s https://old.example/-/log/checkpoint | nomen handover export --log-key /etc/nomen/log.key --successor new.example/-/log+1e5ebf05+AQh9… --checkpoint - names.handover
nomen handover check --note names.handover > handover.note
nomen handover check --key old.example/-/log+0a3c61c8+AS4k… names.handover
nomen proof check --key old.example/-/log+0a3c61c8+AS4k… --handover handover.note a.tlog-proof
nomen proof get --origin old.example/-/log urn:example:alb002 > a.tlog-proof`},
	{"from-handle.md", "it needs a server with its configuration; TestHandleGuide follows the page with one", `
nomen authority put hdl:20.500.9999 --owner archive --owner library --fold-case
nomen token make --who scripts --role editor --prefix hdl:20.500.9999
nomen put hdl:20.500.9999/ADMIN https://example.org/
curl -u '300%3A20.500.9999%2FADMIN:correct horse' -H 'Content-Type: application/json' -X PUT -d '[{"index":1,"type":"URL","data":"https://example.org/1"}]' 'https://names.example.org/api/handles/20.500.9999/first?overwrite=false'
curl https://names.example.org/api/handles/20.500.9999/first
curl -i https://names.example.org/20.500.9999/first`},
	{"from-ezid-or-noid.md", "it asks EZID; the page goes on with a file in the form of its downloads", `
curl -u apitest -d format=anvl -d compression=gzip -d permanence=real https://ezid.cdlib.org/download_request
curl -f https://ezid.cdlib.org/download/da543b91a0.txt.gz | gunzip > download.anvl`},
	{"from-arklet.md", "it needs the database of arklet; the page goes on with a file in the form of its table", `
psql arklet -c '\copy ark_ark to arks.csv csv header'`},
	{"from-ezid-or-noid.md", "it needs the tools of Berkeley DB; the page goes on with the dump of bulk/from/noid/testdata, which they made", `
db_dump -p noid.bdb > noid.txt`},
	{"publish-the-log.md", "it needs a served log with a key; the script log runs the same commands", `
install -d -m 0755 /etc/nomen
chown nomen: /etc/nomen/log.key
nomen log export --entries --via https://names.example.org/-/log --key names.example.org/-/log+1b2c3d4e+AZq… mirror
nomen log key new --public-url https://names.example.org /etc/nomen/log.key
nomen proof get --via https://names.example.org urn:dns:example.org:a > a.tlog-proof
nomen proof check --key names.example.org/-/log+1b2c3d4e+AZq… a.tlog-proof
nomen log export --entries /var/www/log`},
	{"watch-a-log.md", "it needs a published log; TestServedIsWatched and TestThreeLibraries watch and audit logs of their own", `
nomen audit --key names.example.org/-/log+1b2c3d4e+AZq... https://names.example.org/-/log
nomen log watch --key names.example.org/-/log+1b2c3d4e+AZq... --state names.watch --prefix urn:nbn:fi --webhook https://chat.example.org/hook https://names.example.org/-/log`},
	{"witness-logs.md", "it needs logs and witnesses of others; TestThreeLibraries has three of each", `
nomen log key new --witness --name witness.a.example /etc/nomen/witness.key
nomen log watch --once --state a.watch --key names.a.example/-/log+8f2a41c7+AZq... --witness witness.b.example+5d6e7f80+BGx... --witness witness.c.example+90a1b2c3+BHy... --need 2 https://names.a.example/-/log`},
	{"../../docs/reference/handle.md", "it asks a repository; TestDSpaceBothWays has a stand-in for one", `
at=https://repository.example/server
(echo name,url; for handle in $(curl -fsS $at/listhandles/20.500.9999 | jq -r '.[]'); do curl -fsS "$at/resolve/$handle" | jq -r --arg handle "$handle" 'select(.[0]) | ["hdl:" + $handle, .[0]] | @csv'; done) > handles.csv
nomen import handles.csv`},
	{"../../docs/reference/ezid.md", "it asks a server under its public name; TestTraces/download sends the same request", `
curl -u apitest -d format=anvl -d type=ark https://id.example.org/download_request`},
	{"leave-nomen.md", "it changes the nginx of the machine; in TestClientMaps, nginx and Apache httpd read such maps", `
chmod 644 names.map
nginx -t && nginx -s reload`},
}

// A skippedCommand is a command that TestCommandBlocks does not run.
type skippedCommand struct{ page, reason, text string }

// TestSkippedBlocks checks that each command that TestCommandBlocks does not run is run by
// another test, or is in the table of those that none can run.
func TestSkippedBlocks(t *testing.T) {
	var all []skippedCommand
	for _, file := range markdown(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found, faults := skippedCommands(strings.TrimPrefix(file, howto), string(text))
		for _, fault := range faults {
			t.Error(fault)
		}
		all = append(all, found...)
	}
	used := map[string]bool{}
	for _, c := range all {
		row := rowOf(c)
		if row == "" {
			t.Errorf("%s: no test runs $ %s (skip=%s): follow the page in one, or say in notRun why none can", c.page, c.text, c.reason)
		}
		used[row] = true
	}
	for _, row := range allRows() {
		if !used[row] {
			t.Errorf("%s: not in the document", row)
		}
	}
	tests := testsHere(t)
	for _, b := range machineBlocks {
		if !slices.Contains(tests, b.test) {
			t.Errorf("%s: no test %s", b.page, b.test)
		}
	}
}

// rowOf returns the row of a table that is about a command, "" if none is.
func rowOf(c skippedCommand) string {
	for _, b := range machineBlocks {
		if b.page == c.page && b.reason == c.reason {
			return b.page + " " + b.reason
		}
	}
	for _, n := range notRun {
		if n.page == c.page && n.why != "" && slices.Contains(strings.Split(strings.TrimSpace(n.commands), "\n"), c.text) {
			return n.page + " " + c.text
		}
	}
	return ""
}

// allRows returns all values that rowOf can return.
func allRows() (all []string) {
	for _, b := range machineBlocks {
		all = append(all, b.page+" "+b.reason)
	}
	for _, n := range notRun {
		for command := range strings.SplitSeq(strings.TrimSpace(n.commands), "\n") {
			all = append(all, n.page+" "+command)
		}
	}
	return all
}

// skippedCommands returns the commands in blocks ```console skip=REASON of a document, and
// commands in other blocks, which nothing would run.
func skippedCommands(page, text string) (all []skippedCommand, faults []string) {
	language, inside := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		fence, isFence := strings.CutPrefix(strings.TrimLeft(line, " >-"), "```")
		command, isCommand := strings.CutPrefix(strings.TrimLeft(line, " >"), "$ ")
		reason, skipped := strings.CutPrefix(language, "console skip=")
		switch {
		case isFence && inside:
			language, inside = "", false
		case isFence:
			language, inside = fence, true
			if slices.Contains([]string{"sh", "bash", "shell", "shell-session"}, strings.Fields(fence + " -")[0]) {
				faults = append(faults, page+": commands are in blocks ```console, so that they are run, not in ```"+fence)
			}
		case !isCommand:
		case skipped:
			all = append(all, skippedCommand{page, reason, command})
		case language != "console":
			faults = append(faults, page+": $ "+command+": commands are in blocks ```console, so that they are run")
		}
	}
	return all, faults
}

// testsHere returns the names of the tests of this package, with any tag.
func testsHere(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := goparser.ParseFile(token.NewFileSet(), file, nil, goparser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				all = append(all, f.Name.Name)
			}
		}
	}
	return all
}

// TestSkippedCommands checks that a command is noticed wherever it is in a document.
func TestSkippedCommands(t *testing.T) {
	const text = "```console\n$ run\n```\n```console skip=machine\n$ skipped\n> more\noutput\n```\n" +
		"```text\n$ in text\n```\n1. item:\n\n   ```console skip=root\n   $ indented\n   ```\n\n    $ in no block\n```sh\nno prompt\n```\n"
	got, faults := skippedCommands("a.md", text)
	want := []skippedCommand{{"a.md", "machine", "skipped"}, {"a.md", "root", "indented"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(faults) != 3 || !strings.Contains(faults[0], "in text") || !strings.Contains(faults[1], "in no block") || !strings.Contains(faults[2], "```sh") {
		t.Errorf("faults: %q", faults)
	}
	for _, c := range []skippedCommand{{"production.md", "root", "x"}, {"delegate-names.md", "machine", "x"}, {"install.md", "release", "make release"}} {
		if row := rowOf(c); row != "" {
			t.Errorf("%q is in the row %q", c, row)
		}
	}
}
