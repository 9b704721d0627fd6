//go:build clients

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const guide = "../../docs/howto/production/"

// A step of a page of the guide is a file that it shows, or a command with its output.
type step struct {
	file, content string
	command       docCommand
}

// stepsOf returns the steps of a page, in order: the blocks of code that begin with the path of
// a file in a comment, and the commands in blocks of ```console skip=machine.
func stepsOf(t *testing.T, page string) (steps []step) {
	t.Helper()
	source, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var block []string
	language, first := "", 0
	for i, line := range strings.Split(string(source), "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case !isFence && language != "":
			block = append(block, line)
		case isFence && language == "":
			language, first, block = fence+" ", i+2, nil
		case isFence:
			steps = append(steps, stepsOfBlock(t, page, language, first, block)...)
			language = ""
		}
	}
	if len(steps) == 0 {
		t.Fatalf("%s: no steps", page)
	}
	return steps
}

func stepsOfBlock(t *testing.T, page, language string, first int, block []string) (steps []step) {
	t.Helper()
	if file, ok := strings.CutPrefix(block[0], "# /"); ok && !strings.HasPrefix(language, "console") {
		return []step{{file: "/" + file, content: strings.Join(block, "\n") + "\n"}}
	}
	if strings.TrimSpace(language) != "console skip=machine" {
		return nil
	}
	for i, line := range block {
		command, isCommand := strings.CutPrefix(line, "$ ")
		more, isMore := strings.CutPrefix(line, "> ")
		switch {
		case isCommand:
			steps = append(steps, step{command: docCommand{line: first + i, text: command}})
		case len(steps) == 0:
			t.Fatalf("%s:%d: output before a command", page, first+i)
		case isMore && len(steps[len(steps)-1].command.lines) == 0:
			steps[len(steps)-1].command.text += "\n" + more
		default:
			last := &steps[len(steps)-1].command
			last.lines = append(last.lines, line)
		}
	}
	return steps
}

// follow does what a page of the guide says, literally, and compares what is printed.
func (m *machine) follow(t *testing.T, page string) {
	t.Helper()
	for _, s := range stepsOf(t, page) {
		if s.file != "" {
			m.write(t, s.file, []byte(s.content), 0o644)
			continue
		}
		printed, err := m.try(s.command.text)
		if strings.Contains(s.command.text, " reload ") {
			time.Sleep(time.Second) // nginx reloads in the background
		}
		if got := lines(printed); err != nil || !matchLines(got, s.command.lines) {
			t.Fatalf("%s:%d: $ %s\n%v; prints\n%s\nand the page says\n%s\nlog of the machine:\n%s", page, s.command.line, s.command.text, err,
				strings.Join(got, "\n"), strings.Join(s.command.lines, "\n"), m.journal())
		}
	}
}

// buildProgram builds the program that the machines install.
func buildProgram(t *testing.T, version string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "nomen")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-X main.version="+version, "-o", file, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return file
}
