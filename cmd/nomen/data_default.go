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

// defaultData returns the data directory to use if the user names none: systemData for root, and a
// directory in the home of the user otherwise.
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

// usualData returns the data directories that a user may mean without naming one. The first is the
// default.
func usualData() []string {
	all := []string{defaultData(), userData(), systemData}
	if u, err := user.Lookup(os.Getenv("SUDO_USER")); err == nil && u.HomeDir != "" {
		all = append(all, homeData(u.HomeDir))
	}
	return all
}

// defaultHint says that the data directory is the default, and whether another usual one has a
// store. The result is "" if the user named a data directory or a store.
func (c *cli) defaultHint() string {
	if !c.dataDefault || c.store != "" {
		return ""
	}
	return ". " + c.data + " is the default data directory of user " + durable.CurrentUser() + ", because neither --data nor NOMEN_DATA is set" + storeIn(c.data, usualData())
}

// checkNew prevents a command from creating a store in the user's home directory when the user
// probably means the store of the service. The parameter system is the data directory of the
// service. If it has a store, or this user cannot read it, checkNew returns an error. It returns no
// error if the user has named a data directory or a store.
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
