package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestCommandBlocks runs the console blocks of every document, in order, in an empty
// directory of its own, and compares what the commands print with what the document
// says. In a block, a line that begins with "$ " is a command, one that begins with "> "
// continues it, and the others are its output. A file that is shown with "$ cat FILE" is
// made with this content if it does not exist. "…" stands for any text in a line, and on
// a line of its own for any lines. Times, durations, hashes and IDs need not agree. A
// command `nomen serve` runs in the background until the document ends. A block in an
// HTML comment sets up what the page need not show; $REPOSITORY is the root of the repository,
// for files of testdata. A block that cannot be run here is
// marked in the source: ```console skip=REASON. With -update-docs the documents get what
// the commands print where it differs: read it before you commit.
func TestCommandBlocks(t *testing.T) {
	documents := 0
	for _, file := range markdown(t) {
		commands := consoleCommands(t, file)
		if len(commands) == 0 {
			continue
		}
		documents++
		t.Run(strings.TrimPrefix(file, "../../"), func(t *testing.T) {
			t.Parallel()
			differs := false
			for i, printed := range runCommands(t, commands) {
				if got := lines(printed); !matchLines(got, commands[i].lines) {
					c := &commands[i]
					t.Errorf("%s:%d: $ %s\nprints\n%s\nand the document says\n%s", file, c.line, c.text, strings.Join(got, "\n"), strings.Join(c.lines, "\n"))
					c.lines, differs = got, true
				}
			}
			if differs && *updateDocs {
				rewriteOutput(t, file, commands)
			}
		})
	}
	if documents < 2 {
		t.Errorf("only %d documents have console blocks", documents)
	}
}

var updateDocs = flag.Bool("update-docs", false, "write into the documents what their commands print")

// rewriteOutput replaces the output of the commands in a document.
func rewriteOutput(t *testing.T, file string, commands []docCommand) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	source := strings.Split(string(text), "\n")
	var out []string
	next := 0
	for _, c := range commands {
		out = append(out, source[next:c.line]...) // as far as the first line of the command
		next = c.line + strings.Count(c.text, "\n")
		out = append(append(out, source[c.line:next]...), c.lines...)
		next += c.span
	}
	out = append(out, source[next:]...)
	if err := os.WriteFile(file, []byte(strings.Join(out, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// markdown returns the files of the README and of all documents.
func markdown(t *testing.T) []string {
	t.Helper()
	files := []string{"../../README.md", "../../CONTRIBUTING.md"}
	err := filepath.WalkDir("../../docs", func(file string, _ fs.DirEntry, err error) error {
		if filepath.Ext(file) == ".md" {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A docCommand is a command in a document, and what it is said to print.
type docCommand struct {
	line  int // of its first line, from 1
	text  string
	lines []string // the output
	span  int      // the lines that the output takes in the document
}

func consoleCommands(t *testing.T, file string) (commands []docCommand) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	inside, n := false, 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimRight(line, " \n")
		command, isCommand := strings.CutPrefix(line, "$ ")
		more, isMore := strings.CutPrefix(line, "> ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case !inside:
		case isCommand && beyond.MatchString(command):
			t.Fatalf("%s:%d: a command that reaches beyond its directory: mark the block with skip=REASON", file, n)
		case isCommand:
			commands = append(commands, docCommand{line: n, text: command})
		case len(commands) == 0:
			t.Fatalf("%s:%d: output before a command", file, n)
		case isMore && len(commands[len(commands)-1].lines) == 0:
			commands[len(commands)-1].text += "\n" + more
		default:
			last := &commands[len(commands)-1]
			last.lines = append(last.lines, line)
			last.span++
		}
	}
	return commands
}

// beyond matches commands that do more than write into their directory.
var beyond = regexp.MustCompile(`(^|[ ='"])(/(etc|var|srv|usr|backup|run|dev/sd)\b|sudo |systemctl |rm -rf /)`)

// mark stands before the output of each command.
const mark = "\x1e\n"

// runCommands runs the commands in one shell, and returns what each of them printed.
func runCommands(t *testing.T, commands []docCommand) []string {
	t.Helper()
	public, admin := freePort(t), freePort(t)
	for admin == public {
		admin = freePort(t)
	}
	addresses := strings.NewReplacer("127.0.0.1:4500", public, "localhost:4500", public, "127.0.0.1:4501", admin)
	var script strings.Builder
	script.WriteString("exec 2>&1 </dev/null\ntrap 'kill $servers 2>/dev/null; wait' EXIT\n")
	for i, c := range commands {
		text := addresses.Replace(c.text)
		fmt.Fprintf(&script, "printf '\\036\\n'\n")
		if strings.HasPrefix(text, "nomen serve") {
			fmt.Fprintf(&script, `: >server%[2]d.log
%[1]s >server%[2]d.log 2>&1 & servers="$servers $!"
for i in $(seq 300); do grep -q 'admin listener' server%[2]d.log && break; sleep 0.1; done; cat server%[2]d.log
`, text, i)
			continue
		}
		script.WriteString(text + "\n")
	}
	dir := t.TempDir()
	for _, c := range commands {
		if file, ok := strings.CutPrefix(c.text, "cat "); ok && !strings.ContainsAny(file, " /|<>") && len(c.lines) > 0 {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(strings.Join(c.lines, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	sh := exec.CommandContext(ctx, "sh", "-c", script.String())
	sh.Dir = dir
	sh.WaitDelay = 10 * time.Second
	sh.Env = append(os.Environ(), "REPOSITORY="+repository, "HOME="+dir, "XDG_DATA_HOME="+dir, "NOMEN_DATA="+dir+"/data", "NOMEN_LISTEN="+public, "NOMEN_ADMIN="+admin, "NOMEN_LOG_FORMAT=text", "LC_ALL=C.UTF-8") // the log as on a terminal
	out, err := sh.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v\n%s", err, out)
	}
	printed := strings.Split(strings.NewReplacer("listener at "+public, "listener at [::]:4500", public, "127.0.0.1:4500", admin, "127.0.0.1:4501", dir, "/srv").Replace(string(out)), mark)[1:]
	if len(printed) != len(commands) {
		t.Fatalf("%d of %d commands ran:\n%s", len(printed), len(commands), out)
	}
	return printed
}

// variable is what differs from one run to the next.
var variable = regexp.MustCompile(strings.Join([]string{
	`\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z)?`, `[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT`, // times
	`[\d.]+ m?s\b`, `[\d,]+ per second`, `[\d,.]+ [KMG]iB`, // durations, rates, sizes
	`\b[0-9a-f]{64}\b`, `\b\d+-[a-z0-9]{8}\b`, `"[0-9a-z]{10,}"`, // hashes, IDs, entity tags
}, "|"))

// lines returns the lines of what was printed, without empty ones at the end.
func lines(printed string) (out []string) {
	for line := range strings.Lines(printed) {
		out = append(out, strings.TrimRight(line, " \r\n"))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// matchLines compares what was printed with what a document says.
func matchLines(got, want []string) bool {
	switch {
	case len(want) == 0:
		return len(got) == 0
	case want[0] == "…":
		for i := range len(got) + 1 {
			if matchLines(got[i:], want[1:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && matchLine(got[0], want[0]) && matchLines(got[1:], want[1:])
}

func matchLine(got, want string) bool {
	got, want = variable.ReplaceAllString(got, "~"), variable.ReplaceAllString(want, "~")
	parts := strings.Split(want, "…")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(got)
}

// TestMatchLines checks that a difference between a document and a run is noticed.
func TestMatchLines(t *testing.T) {
	f := func(got, want string, expected bool) {
		t.Helper()
		if ok := matchLines(strings.Split(got, "\n"), strings.Split(want, "\n")); ok != expected {
			t.Errorf("%q, %q: %v, want %v", got, want, ok, expected)
		}
	}
	f("a\nb", "a\nb", true)
	f("a\nb", "a", false)
	f("a", "a\nb", false)
	f("a\nb\nc", "a\n…\nc", true)
	f("a\nc", "a\n…\nc", true)
	f("a\nb", "a\n…\nc", false)
	f("1 name in 0.02 s", "1 name in 13.5 s", true)
	f("1 name in 0.02 s", "2 names in 0.02 s", false)
	f("revision 2  2026-11-22T13:13:54Z", "revision 2  2025-01-01T00:00:00Z", true)
	f("Location: https://example.org/1", "Location: …", true)
	f("Location: a.b", "Location: axb", false)
}
