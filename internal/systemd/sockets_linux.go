package systemd

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// firstSocket is the descriptor of the first inherited socket (SD_LISTEN_FDS_START).
const firstSocket = 3

const maxSockets = 256

// Sockets returns the sockets that this process has inherited. A second call returns no sockets.
func Sockets() ([]Socket, error) { return socketsFrom(firstSocket) }

func socketsFrom(first int) ([]Socket, error) {
	count, pid, names := take("LISTEN_FDS"), take("LISTEN_PID"), take("LISTEN_FDNAMES")
	if count == "" || pid != strconv.Itoa(os.Getpid()) { // the variables are for another process
		return nil, nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || n > maxSockets {
		return nil, fmt.Errorf("LISTEN_FDS %q: must be a number from 0 to %d", count, maxSockets)
	}
	named := strings.Split(names, ":")
	all := make([]Socket, n)
	for i := range all {
		fd := first + i
		syscall.CloseOnExec(fd)
		all[i].Name = "unknown" // as in sd_listen_fds_with_names
		if i < len(named) && named[i] != "" {
			all[i].Name = named[i]
		}
		all[i].File = os.NewFile(uintptr(fd), "socket "+all[i].Name)
	}
	return all, nil
}
