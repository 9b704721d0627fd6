// Package systemd gets sockets and credentials from systemd, and reports the state of a service to
// systemd (sd_listen_fds(3), sd_notify(3), sd_watchdog_enabled(3), systemd.exec(5)).
//
// Without systemd the functions do nothing. The package removes the environment variables that it
// reads, so that programs started by the service do not use them.
package systemd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A Socket is an inherited socket.
type Socket struct {
	Name string // FileDescriptorName of the socket unit, by default the name of the unit
	File *os.File
}

// take returns the value of an environment variable, and removes the variable.
func take(name string) string {
	value := os.Getenv(name)
	_ = os.Unsetenv(name) // fails only for an invalid name
	return value
}

// credentialScheme is the prefix of an option value that is the name of a credential. Without the
// prefix, the value is the path of a file.
const credentialScheme = "credential:"

// IsCredential reports whether an option names a credential of the service instead of a file.
func IsCredential(text string) bool { return strings.HasPrefix(text, credentialScheme) }

// Path returns the path of the file that an option names. For credential:NAME, this is the file
// with the credential NAME of the service (LoadCredential in the unit). Any other text is a path,
// which Path returns unchanged.
func Path(text string) (string, error) {
	name, ok := strings.CutPrefix(text, credentialScheme)
	if !ok {
		return text, nil
	}
	dir := os.Getenv("CREDENTIALS_DIRECTORY")
	switch {
	case name == "", name == ".", name == "..", strings.ContainsAny(name, "/\\:\x00"):
		return "", fmt.Errorf("invalid credential name %q: want the name in LoadCredential, such as tls-key", name)
	case dir == "":
		return "", fmt.Errorf("credential %q: the service has no credentials; add LoadCredential=%s:/PATH to its unit", name, name)
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("credential %q: not found; add LoadCredential=%s:/PATH to the unit", name, name)
	}
	return path, nil
}
