package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/nomen-project/nomen/internal/sbom"
)

var architectures = []string{"amd64", "arm64"}

// A program is nomen for one architecture.
type program struct {
	arch   string
	binary []byte
	sbom   []byte
}

func (r *release) buildAll() error {
	for _, arch := range architectures {
		p, err := r.build(arch)
		if err != nil {
			return err
		}
		r.programs = append(r.programs, p)
	}
	return r.describe()
}

// build builds the program for one architecture. The result depends only on the commit, the version
// and the version of Go.
func (r *release) build(arch string) (p program, err error) {
	out := filepath.Join(r.scratch, "nomen-"+arch)
	ldflags := "-s -w -buildid= -X main.version=" + r.version.full
	cmd := r.command("go", "build", "-trimpath", "-ldflags", ldflags, "-o", out, "./cmd/nomen")
	cmd.Env = append(cmd.Env, "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=-trimpath", "GOEXPERIMENT=")
	if err := cmd.Run(); err != nil {
		return p, fmt.Errorf("go build for %s: %w", arch, err)
	}
	p.arch = arch
	if p.binary, err = os.ReadFile(out); err != nil {
		return p, err
	}
	info, err := buildinfo.ReadFile(out)
	if err != nil {
		return p, err
	}
	var b bytes.Buffer
	err = sbom.Write(&b, "nomen", r.version.full, info)
	p.sbom = b.Bytes()
	return p, err
}

// describe runs the program to get its manual and its completions.
func (r *release) describe() (err error) {
	for _, of := range []struct {
		to   *[]byte
		args []string
	}{
		{&r.manual, []string{"man"}},
		{&r.bash, []string{"completion", "bash"}},
		{&r.zsh, []string{"completion", "zsh"}},
		{&r.fish, []string{"completion", "fish"}},
	} {
		// Some defaults in the help depend on the user and the environment.
		cmd := exec.Command(filepath.Join(r.scratch, "nomen-"+runtime.GOARCH), of.args...)
		cmd.Env, cmd.Stderr = []string{"NOMEN_DATA=/var/lib/nomen"}, os.Stderr
		if *of.to, err = cmd.Output(); err != nil {
			return fmt.Errorf("nomen %s: %w (a release is built on Linux, amd64 or arm64)", of.args[0], err)
		}
	}
	return nil
}

// command returns a command that runs at the root of the module, with its output on standard error.
func (r *release) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.root, os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TZ=UTC", fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.at.Unix()))
	return cmd
}
