package offline

import (
	"strings"

	"github.com/hippocampus-memory/hippocampus/model"
	"github.com/hippocampus-memory/hippocampus/model/internal/reply"
)

// role is what an author is, as far as the name tells.
type role int

const (
	rolePerson role = iota // a named person
	roleUser               // the user
	roleAgent              // an assistant
	roleTool               // a tool or the system: not someone who speaks
)

var roles = map[string]role{
	"user": roleUser, "human": roleUser, "customer": roleUser, "用户": roleUser, "客户": roleUser,
	"agent": roleAgent, "assistant": roleAgent, "ai": roleAgent, "bot": roleAgent, "chatbot": roleAgent, "model": roleAgent,
	"助手": roleAgent, "机器人": roleAgent, "客服": roleAgent,
	"tool": roleTool, "system": roleTool, "function": roleTool, "developer": roleTool, "": roleTool, "工具": roleTool, "系统": roleTool,
}

func roleOf(author string) role {
	key := reply.Key(author)
	if r, found := roles[key]; found {
		return r
	}
	for _, end := range []string{"agent", "assistant", "bot", "助手", "机器人"} {
		if strings.HasSuffix(key, end) {
			return roleAgent
		}
	}
	if strings.HasSuffix(key, "tool") {
		return roleTool
	}
	return rolePerson
}

// authors knows who of a conversation is a person.
type authors struct{ hasUser bool }

func authorsOf(c *model.Conversation) authors {
	for i := range c.Turns {
		if roleOf(c.Turns[i].Author) == roleUser {
			return authors{hasUser: true}
		}
	}
	return authors{}
}

// person tells whether what an author says about themselves is about a person.
// In a conversation with a user, every other name is taken for an agent's:
// frameworks name their agents as they like. Without a user, names are people.
func (a authors) person(author string) bool {
	r := roleOf(author)
	return r == roleUser || r == rolePerson && !a.hasUser
}

// prefix keeps the facts of two people apart: "caroline_" for Caroline, nothing
// for the user.
func prefix(author string) string {
	if roleOf(author) == roleUser {
		return ""
	}
	return reply.Key(author) + "_"
}

// label is how an author is named in a summary.
func label(author, language string) string {
	chinese := language == model.LanguageChinese
	switch roleOf(author) {
	case roleUser:
		return pick(chinese, "用户", "User")
	case roleAgent:
		if key := reply.Key(author); key != "agent" && key != "assistant" {
			return author
		}
		return pick(chinese, "助手", "Assistant")
	case roleTool:
		if strings.TrimSpace(author) == "" {
			return pick(chinese, "未知", "Unknown")
		}
	}
	return strings.TrimSpace(author)
}

func pick(chinese bool, yes, no string) string {
	if chinese {
		return yes
	}
	return no
}
