package witness

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/tlog"
)

// header is the first line of the file of a log, with the format and its version. The rest of the
// file is the last cosigned checkpoint, as the log signed it.
const header = "nomen-witness 1\n"

// Extensions of the files of a log. The name of a file is the SHA-256 hash of the origin of the
// log.
const (
	stateFile = ".checkpoint"
	forkFile  = ".fork" // two contradictory checkpoints, both signed by the log
)

func fileOf(dir, origin, extension string) string {
	sum := sha256.Sum256([]byte(origin))
	return filepath.Join(dir, hex.EncodeToString(sum[:])+extension)
}

// readState returns the last cosigned checkpoint of a log. Before the first cosignature, it returns
// a checkpoint of size 0.
func readState(dir string, log note.Verifier) (tlog.Checkpoint, []byte, error) {
	file := fileOf(dir, log.Name(), stateFile)
	none := tlog.Checkpoint{Origin: log.Name(), Root: tlog.EmptyRoot()}
	if err := durable.Sweep(file); err != nil {
		return none, nil, err
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil, nil
	}
	if err != nil {
		return none, nil, err
	}
	msg, ok := strings.CutPrefix(string(data), header)
	if !ok {
		return none, nil, fmt.Errorf("%s: unknown format; restore the file, because a witness that forgets what it cosigned is not reliable", file)
	}
	c, err := tlog.Peek([]byte(msg))
	if err == nil && c.Origin != log.Name() {
		err = tlog.ErrOrigin
	}
	if err != nil {
		return none, nil, fmt.Errorf("%s: %w; restore the file, because a witness that forgets what it cosigned is not reliable", file, err)
	}
	return c, []byte(msg), nil
}

// writeState stores the last cosigned checkpoint. When writeState returns nil, the file is on disk.
func writeState(dir, origin string, signed []byte) error {
	return durable.WriteFile(fileOf(dir, origin, stateFile), header+string(signed))
}

func writeFork(dir, origin string, ours, theirs []byte) error {
	file := fileOf(dir, origin, forkFile)
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	return durable.WriteFile(file, header+string(ours)+"\n"+string(theirs))
}
