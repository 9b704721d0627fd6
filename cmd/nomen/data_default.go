package main

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"

	"github.com/nomen-project/nomen/internal/durable"
)

const systemData = "/var/lib/nomen"

// defaultData returns the default data directory. This is systemData for root, and a directory in
// the home directory for any other user.
func defaultData() string {
	if os.Geteuid() == 0 {
		return systemData
	}
	return userData()
}

func userData() string {
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return dir + "/nomen"
	}
	if home, err := os.UserHomeDir(); err == nil {
		return homeData(home)
	}
	return "nomen-data"
}

func homeData(home string) string { return home + "/.local/share/nomen" }

// usualData returns the directories that are the default data directory for some user of this
// machine, such as root or the user of sudo. The first one is the default for the current user.
func usualData() []string {
	all := []string{defaultData(), userData(), systemData}
	if u, err := user.Lookup(os.Getenv("SUDO_USER")); err == nil && u.HomeDir != "" {
		all = append(all, homeData(u.HomeDir))
	}
	return all
}

// defaultHint returns a hint for error messages if the data directory is the default one. The hint
// also mentions other usual data directories that contain a store. The result is "" if the user has
// specified a data directory or a store.
func (c *cli) defaultHint() string {
	if !c.dataDefault || c.store != "" {
		return ""
	}
	return ". " + c.data + " is the default data directory of user " + durable.CurrentUser() + ", because neither --data nor NOMEN_DATA is set" + storeIn(c.data, usualData())
}

// checkNew prevents a command from creating a store in the user's home directory if the user
// probably means the store of the service. The parameter system is the data directory of the
// service. If this directory contains a store, or cannot be read by the user, checkNew returns an
// error. If the user has specified a data directory or a store, checkNew returns nil.
func (c *cli) checkNew(system string) error {
	if !c.dataDefault || c.store != "" || c.data == system {
		return nil
	}
	err := storeThere(filepath.Join(system, storeDir))
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil
	}
	who := "the user of the service"
	if info, err := os.Stat(system); err == nil {
		who = durable.OwnerOf(info)
	}
	state := "has a store"
	if err != nil {
		state = "cannot be read by user " + durable.CurrentUser()
	}
	return usagef("%s has no store, and %s, the data directory of the service, %s: run the command as the service does, with 'sudo -u %s', or create a store of your own with --data %s",
		c.data, system, state, who, c.data)
}

func storeIn(data string, usual []string) string {
	usual = slices.DeleteFunc(usual, func(dir string) bool { return dir == data })
	for _, dir := range usual {
		switch err := storeThere(filepath.Join(dir, storeDir)); {
		case err == nil:
			return "; " + dir + " has a store"
		case errors.Is(err, fs.ErrPermission):
			if info, err := os.Stat(dir); err == nil {
				return "; " + dir + " cannot be read by this user: run the command as user " + durable.OwnerOf(info)
			}
		}
	}
	return ""
}
