package document

import (
	"strings"
)

// ignoreRule is a line of a .gitignore.
type ignoreRule struct {
	pattern string
	// anchored rules are matched with the path from the .gitignore's folder, others with the name alone.
	anchored bool
	folders  bool // it speaks of folders only
	keeps    bool // it begins with an exclamation mark
}

// parseIgnore reads a .gitignore as git does.
func parseIgnore(text string) []ignoreRule {
	var rules []ignoreRule
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = trimBlanks(strings.TrimSuffix(line, "\r"))
		if strings.HasPrefix(line, "#") {
			continue
		}
		var r ignoreRule
		line, r.keeps = strings.CutPrefix(line, "!")
		line, r.folders = strings.CutSuffix(line, "/")
		r.anchored = strings.Contains(line, "/")
		if r.pattern = strings.TrimPrefix(line, "/"); r.pattern != "" {
			rules = append(rules, r)
		}
	}
	return rules
}

// trimBlanks takes the blanks off a line's end that no backslash keeps.
func trimBlanks(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

// matches tells whether a rule speaks of a path, seen from the folder of its .gitignore.
func (r ignoreRule) matches(name string, folder bool) bool {
	if r.folders && !folder {
		return false
	}
	if !r.anchored {
		return wildMatch(r.pattern, name[strings.LastIndexByte(name, '/')+1:], true)
	}
	// git compares what stands before the first wildcard by itself, so that ** after it is at a start.
	plain := strings.IndexAny(r.pattern, `*?[\\`)
	if plain < 0 {
		return r.pattern == name
	}
	rest, found := strings.CutPrefix(name, r.pattern[:plain])
	return found && wildMatch(r.pattern[plain:], rest, true)
}

// wildMatch matches a name with a pattern, byte by byte as git does: * and ? stop at a slash, and **
// between slashes is any number of folders. start says that the pattern is at its start or after a slash.
func wildMatch(pattern, name string, start bool) bool {
	for pattern != "" {
		switch pattern[0] {
		case '*':
			rest := strings.TrimLeft(pattern, "*")
			if start && len(pattern)-len(rest) >= 2 && (rest == "" || rest[0] == '/') {
				return matchFolders(rest, name)
			}
			for i := 0; ; i++ {
				if wildMatch(rest, name[i:], false) {
					return true
				}
				if i == len(name) || name[i] == '/' {
					return false
				}
			}
		case '?':
			if name == "" || name[0] == '/' {
				return false
			}
			pattern, name, start = pattern[1:], name[1:], false
			continue
		case '[':
			if name == "" || name[0] == '/' {
				return false
			}
			in, rest, ok := matchClass(pattern[1:], name[0])
			if !ok || !in {
				return false
			}
			pattern, name, start = rest, name[1:], false
			continue
		case '\\':
			if pattern = pattern[1:]; pattern == "" {
				return false
			}
		}
		if name == "" || name[0] != pattern[0] {
			return false
		}
		start = pattern[0] == '/'
		pattern, name = pattern[1:], name[1:]
	}
	return name == ""
}

// matchFolders matches a name with what follows a **: nothing, or a slash and more.
func matchFolders(rest, name string) bool {
	if rest == "" {
		return true
	}
	for {
		if wildMatch(rest[1:], name, true) {
			return true
		}
		at := strings.IndexByte(name, '/')
		if at < 0 {
			return false
		}
		name = name[at+1:]
	}
}

// matchClass matches a byte with the class that a pattern begins with, after its bracket, and gives what follows it.
// A class without an end matches nothing.
func matchClass(pattern string, c byte) (in bool, rest string, ok bool) {
	negated := strings.HasPrefix(pattern, "!") || strings.HasPrefix(pattern, "^")
	if negated {
		pattern = pattern[1:]
	}
	for first := true; ; first = false {
		if pattern == "" {
			return false, "", false
		}
		if pattern[0] == ']' && !first {
			return in != negated, pattern[1:], true
		}
		if name, after, named := className(pattern); named {
			hit, known := inClass(name, c)
			if !known {
				return false, "", false
			}
			in, pattern = in || hit, after
			continue
		}
		var low, high byte
		if low, pattern, ok = classByte(pattern); !ok {
			return false, "", false
		}
		high = low
		if len(pattern) > 1 && pattern[0] == '-' && pattern[1] != ']' {
			if high, pattern, ok = classByte(pattern[1:]); !ok {
				return false, "", false
			}
		}
		in = in || low <= c && c <= high
	}
}

// classByte reads a byte of a class, which a backslash may stand before.
func classByte(pattern string) (c byte, rest string, ok bool) {
	pattern = strings.TrimPrefix(pattern, `\`)
	if pattern == "" {
		return 0, "", false
	}
	return pattern[0], pattern[1:], true
}

// className reads a name like [:alpha:].
func className(pattern string) (name, rest string, ok bool) {
	after, ok := strings.CutPrefix(pattern, "[:")
	if !ok {
		return "", "", false
	}
	at := strings.IndexByte(after, ']')
	if at < 1 || after[at-1] != ':' {
		return "", "", false
	}
	return after[:at-1], after[at+1:], true
}

func inClass(name string, c byte) (in, known bool) {
	digit, lower, upper := c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z'
	graphic := c > ' ' && c < 0x7f
	switch name {
	case "alnum":
		return digit || lower || upper, true
	case "alpha":
		return lower || upper, true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < ' ' || c == 0x7f, true
	case "digit":
		return digit, true
	case "graph":
		return graphic, true
	case "lower":
		return lower, true
	case "print":
		return graphic || c == ' ', true
	case "punct":
		return graphic && !digit && !lower && !upper, true
	case "space":
		return c == ' ' || c >= '\t' && c <= '\r', true
	case "upper":
		return upper, true
	case "xdigit":
		return digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F', true
	}
	return false, false
}
