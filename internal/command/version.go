package command

import "runtime/debug"

// Version is this binary's, as the build wrote it down: of a release its tag, of a checkout one made of the commit,
// with "+dirty" after it where files were changed.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}
