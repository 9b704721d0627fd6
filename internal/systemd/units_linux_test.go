package systemd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/testrun"
)

const units = "../../contrib/systemd"

// analyze runs systemd-analyze on copies of the units, whose program exists, in a root without
// other units than those of the machine.
func analyze(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		testrun.Missing(t, "systemd-analyze")
	}
	dir := t.TempDir()
	for _, name := range []string{"nomen.service", "nomen.socket"} {
		text, err := os.ReadFile(filepath.Join(units, name))
		if err != nil {
			t.Fatal(err)
		}
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		text = []byte(strings.ReplaceAll(string(text), "/usr/bin/nomen", exe))
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("systemd-analyze", append(args, "./nomen.service", "./nomen.socket")...)
	if args[0] == "security" {
		cmd.Args = cmd.Args[:len(cmd.Args)-1] // a socket unit has no exposure
	}
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %v: %s", cmd.Args, err, out)
	}
	return string(out)
}

func TestUnitsVerify(t *testing.T) {
	out := analyze(t, "verify", "--man=no")
	for line := range strings.Lines(out) {
		if strings.Contains(line, "nomen") {
			t.Error(line)
		}
	}
}

// The exposure of the service is at most 1.5 of 10.
func TestUnitExposure(t *testing.T) {
	out := analyze(t, "security", "--offline=true", "--no-pager")
	m := regexp.MustCompile(`Overall exposure level for \S+: (\d+\.\d+)`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no rating: %s", out)
	}
	if n, err := strconv.ParseFloat(m[1], 64); err != nil || n > 1.5 {
		t.Errorf("exposure %s, want at most 1.5", m[1])
	}
}
