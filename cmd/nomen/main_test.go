package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	if os.Getenv("NOMEN_TEST_PROGRAM") != "" { // this process is to be a server
		os.Exit(program())
	}
	testscript.Main(m, map[string]func(){"nomen": func() { os.Exit(program()) }})
}

// plainCommands is the environment variable with the directory of a nomen that the scripts run
// instead of this test binary. With the race detector, a command takes several times as long to
// start as to do its work. The servers that a script starts with serve are always of this binary.
const plainCommands = "PLAIN_COMMANDS"

// TestScripts runs the commands as people do, by the scripts in testdata/script that start no
// server.
func TestScripts(t *testing.T) { runScripts(t, false) }

// TestServerScripts runs those that start servers.
func TestServerScripts(t *testing.T) { runScripts(t, true) }

func runScripts(t *testing.T, servers bool) {
	t.Helper()
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, file := range all {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains("\n"+string(script), "\nserve") == servers {
			files = append(files, file)
		}
	}
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("NOMEN_DATA", e.WorkDir+"/data")
			e.Values[lastServer] = new(func() error)
			e.Setenv("ZERO", strings.Repeat("0", 64)) // a hash
			if dir := os.Getenv(plainCommands); dir != "" {
				e.Setenv("PATH", dir+string(filepath.ListSeparator)+e.Getenv("PATH"))
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":   status,
			"serve":    serve,
			"stop":     stop,
			"cutshort": cutShort,
			"rules1":   rules1,
			"noted":    noted,
			"bare":     bare,
			"waitfor":  waitFor,
		},
	})
}

// status runs a program that must end with a status: status N PROGRAM ARG...
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N program args...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if want := args[0]; strconv.Itoa(got) != want {
		ts.Fatalf("%s: status %d, want %s", strings.Join(args[1:], " "), got, want)
	}
}

// cutShort copies a file without its last few bytes: cutshort FROM TO.
func cutShort(ts *testscript.TestScript, _ bool, args []string) {
	data := ts.ReadFile(args[0])
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(data[:len(data)-12]), 0o600))
}

// waitFor repeats a program until it succeeds: waitfor PROGRAM ARG...
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	for last := time.Now().Add(startTimeout); ; time.Sleep(20 * time.Millisecond) {
		err := ts.Exec(args[0], args[1:]...)
		if err == nil {
			return
		}
		if time.Now().After(last) {
			ts.Fatalf("%s never succeeded: %v", strings.Join(args, " "), err)
		}
	}
}

// serve starts a server in the background on free ports and waits until it
// listens: serve ARG... It sets $PUBLIC and $ADMIN, and ends with the script.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	for i, a := range args {
		if strings.HasSuffix(a, ".toml") {
			args[i] = ts.MkAbs(a)
		}
	}
	data := ts.Getenv("NOMEN_DATA")
	if len(args) > 1 && args[0] == "--data" {
		data, args = ts.MkAbs(args[1]), args[2:]
	}
	s, err := startServer(data, args...)
	ts.Check(err)
	ts.Defer(func() { _ = s.stop() })
	if last, ok := ts.Value(lastServer).(*func() error); ok {
		*last = s.stop
	}
	ts.Setenv("PUBLIC", s.public)
	ts.Setenv("ADMIN", s.admin)
}

// lastServer is the key of the function that stops the server started last.
const lastServer = "stop"

// stop stops the server that was started last.
func stop(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Check((*ts.Value(lastServer).(*func() error))())
}

// noted puts the head that verify has printed as JSON into a variable: noted
// VARIABLE FILE.
func noted(ts *testscript.TestScript, _ bool, args []string) {
	var line verifiedLine
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &line))
	ts.Setenv(args[0], line.Head)
}
