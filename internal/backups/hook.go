package backups

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/requestlog"
)

// placeholder stands for the directory of the backup in the arguments of a hook.
const placeholder = "{backup}"

// Limits for hooks: the logged output, and the time to wait for a killed hook.
const (
	maxHookLines = 100
	maxHookLine  = 500
	hookGrace    = 5 * time.Second // how long to wait for the end of the output after the hook was killed
)

func (k *Scheduler) runHook(ctx context.Context, p *Plan, dir string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, p.HookTimeout, fmt.Errorf("killed after %v (hook-timeout)", p.HookTimeout))
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Hook[0], hookArguments(p.Hook[1:], dir)...)
	cmd.Env = append(hookEnvironment(os.Environ()), "NOMEN_BACKUP="+dir)
	cmd.Dir = filepath.Dir(dir)
	cmd.WaitDelay = hookGrace
	endGroup(cmd)
	read, write := io.Pipe()
	cmd.Stdout, cmd.Stderr = write, write
	logged := make(chan string)
	go func() { logged <- logLines(read, k.Log.With("hook", p.Hook[0])) }()
	err := cmd.Run()
	_ = write.Close() // Close of a PipeWriter never fails
	last := <-logged
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("%s: %w", p.Hook[0], cause)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && last != "" {
		return fmt.Errorf("%s: %w: %s", p.Hook[0], err, last)
	}
	return err
}

// hookArguments replaces each {backup} in the arguments of a hook by the directory of the backup.
// If the arguments do not contain {backup}, it appends the directory as another argument.
func hookArguments(args []string, dir string) []string {
	found := false
	all := make([]string, 0, len(args)+1)
	for _, a := range args {
		found = found || strings.Contains(a, placeholder)
		all = append(all, strings.ReplaceAll(a, placeholder, dir))
	}
	if !found {
		all = append(all, dir)
	}
	return all
}

// hookEnvironment returns the environment variables for a hook. It omits the variables that
// configure the server, because they can contain secrets or inherited sockets.
func hookEnvironment(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(v string) bool {
		for _, own := range []string{"NOMEN_", "LISTEN_", "WATCHDOG_", "NOTIFY_SOCKET="} {
			if strings.HasPrefix(v, own) {
				return true
			}
		}
		return false
	})
}

func logLines(r io.Reader, log *slog.Logger) (last string) {
	in := bufio.NewReaderSize(r, maxHookLine)
	for n := 0; ; {
		line, more, err := in.ReadLine()
		if err != nil {
			if n > maxHookLines {
				log.Info("the output of the hook was longer", "lines", n)
			}
			return last
		}
		text := strings.TrimSpace(requestlog.Printable(string(line)))
		for more && err == nil { // skip the rest of a long line
			_, more, err = in.ReadLine()
		}
		if text == "" {
			continue
		}
		last = text
		if n++; n <= maxHookLines {
			log.Info("output of the hook", "line", text)
		}
	}
}
