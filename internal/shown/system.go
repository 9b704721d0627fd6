package shown

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
)

// Error describes an error for people, with the Go library's errors about files, network addresses
// and time limits in plain words. For example, "open a.csv: no such file or directory" becomes
// "a.csv: file not found".
func Error(err error) string {
	text := err.Error()
	eachSystemError(err, func(found, plain string) { text = replaceWhole(text, found, plain) })
	return text
}

func eachSystemError(err error, f func(found, plain string)) {
	if plain, ok := plainly(err); ok {
		f(err.Error(), plain)
		return
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			eachSystemError(inner, f)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			eachSystemError(inner, f)
		}
	}
}

// plainly returns the plain text for a system error of a known type, and false for any other error.
func plainly(err error) (string, bool) {
	switch e := err.(type) {
	case *fs.PathError:
		return aboutFile(e.Op, e.Path, e.Err), true
	case *os.LinkError:
		return fmt.Sprintf("cannot %s %s to %s: %s", verb(e.Op), e.Old, e.New, Error(e.Err)), true
	case *url.Error:
		return fmt.Sprintf("%s: %s", e.URL, Error(e.Err)), true
	case *net.OpError:
		return aboutNetwork(e), true
	case *net.DNSError:
		return aboutHost(e), true
	case *os.SyscallError:
		return Error(e.Err), true
	}
	switch err {
	case context.DeadlineExceeded, os.ErrDeadlineExceeded:
		return "timed out", true
	case io.ErrUnexpectedEOF, io.EOF:
		return "unexpected end of data", true
	}
	return "", false
}

func aboutFile(op, path string, err error) string {
	switch creates := op == "mkdir" || op == "create"; {
	case errors.Is(err, fs.ErrNotExist) && creates:
		return fmt.Sprintf("cannot %s %s: the directory above it does not exist", verb(op), path)
	case errors.Is(err, fs.ErrNotExist):
		return path + ": file or directory not found"
	case errors.Is(err, syscall.EISDIR):
		return path + ": is a directory, expected a file"
	case errors.Is(err, syscall.ENOTDIR):
		return path + ": part of this path is a file, expected a directory"
	}
	return fmt.Sprintf("cannot %s %s: %s", verb(op), path, Error(err))
}

// verb returns the verb for an operation of package os.
func verb(op string) string {
	switch op {
	case "stat", "lstat", "fstat", "readdirent", "readdir", "fdopendir", "readlink":
		return "read"
	case "mkdir":
		return "create directory"
	case "unlinkat", "unlink":
		return "remove"
	case "sync", "truncate", "fallocate":
		return "write"
	}
	return op
}

func aboutNetwork(e *net.OpError) string {
	address := ""
	if e.Addr != nil {
		address = " " + e.Addr.String()
	}
	var host *net.DNSError
	switch reason := Error(e.Err); {
	case errors.As(e.Err, &host):
		return reason
	case e.Op == "dial":
		return "cannot connect to" + address + ": " + reason
	case e.Op == "listen" && errors.Is(e.Err, syscall.EACCES):
		return "cannot listen at" + address + ": permission denied (ports below 1024 need root or a socket unit)"
	case e.Op == "listen" && errors.Is(e.Err, syscall.EADDRINUSE):
		return "cannot listen at" + address + ": another program listens there"
	case e.Op == "listen" && address == "":
		return "cannot listen: " + reason
	case e.Op == "listen":
		return "cannot listen at" + address + ": " + reason
	case address == "":
		return "connection failed: " + reason
	default:
		return "connection to" + address + " failed: " + reason
	}
}

func aboutHost(e *net.DNSError) string {
	switch _, port, isPort := strings.Cut(e.Name, "/"); {
	case e.Err == "unknown port" && isPort:
		return fmt.Sprintf("unknown port %q", port)
	case e.IsNotFound:
		return fmt.Sprintf("host %q not found in DNS", e.Name)
	case e.IsTimeout && e.Server != "":
		return fmt.Sprintf("looking up %q: the DNS server %s did not answer in time", e.Name, e.Server)
	case e.IsTimeout:
		return fmt.Sprintf("looking up %q: DNS did not answer in time", e.Name)
	}
	reason := e.Err
	if e.UnwrapErr != nil {
		reason = Error(e.UnwrapErr)
	}
	return fmt.Sprintf("looking up %q in DNS failed: %s", e.Name, reason)
}

// replaceWhole replaces old by plain in a text, except where old is part of a word. If plain begins
// with a name and the text contains this name just before old, the name is not repeated.
func replaceWhole(text, old, plain string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, old)
		if i < 0 || old == "" {
			return b.String() + text
		}
		before, after := text[:i], text[i+len(old):]
		b.WriteString(before)
		subject, rest, _ := strings.Cut(plain, ": ")
		switch {
		case before != "" && letter(before[len(before)-1]), after != "" && letter(after[0]):
			b.WriteString(old)
		case strings.HasSuffix(b.String(), subject+": "):
			b.WriteString(rest)
		default:
			b.WriteString(plain)
		}
		text = after
	}
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }
