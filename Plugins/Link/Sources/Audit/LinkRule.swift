/// A rule of Vitals Link, as stated in `Protocol.md`.
package enum LinkRule: Sendable, Hashable, CaseIterable {
    case line, times, ids, overlap, unknownMethods, unknownNotifications, output, ending
    case timeout, silenceBeforeInitialize, timeLimit, shutdown
    case clock, history, pages, acknowledgement, measurement, measurementNames
    case notifications, errors, unsupported, samples, capabilities, unknownCapabilities, monitoring, summaries

    /// The section of `Protocol.md` that contains the rule.
    package var section: String { content.section }
    /// The exact text of `Protocol.md`, without its line breaks.
    package var text: String { content.text }

    private var content: (section: String, text: String) {
        switch self {
        case .line: ("Lines", "Each line is one JSON-RPC 2.0 object in UTF-8 and ends with a line feed")
        case .times: ("Lines", "All times are whole milliseconds since 1970-01-01 UTC")
        case .ids: ("Lines", "Ids of the gateway are whole numbers; give them back as they are.")
        case .overlap: ("Lines", "Several calls may be under way at once, and may be answered in any order.")
        case .unknownMethods: ("Lines", "An unknown method is answered with error -32601")
        case .unknownNotifications: ("Lines", "a notification with an unknown method is ignored")
        case .output: ("Lines", "As a child process, a program writes nothing else to standard output.")
        case .ending: ("Lines", "It ends when its standard input ends")
        case .timeout:
            (
                "Course of a link",
                "A program that must first wait for its own device may answer as late as it likes, but must answer `ping` "
                    + "meanwhile"
            )
        case .silenceBeforeInitialize: ("Course of a link", "It keeps samples to itself until it has answered")
        case .timeLimit:
            (
                "Course of a link",
                "Other calls must be answered within 30 s, `history/read` and `measurement/start` within 60 s."
            )
        case .shutdown: ("Course of a link", "After the answer the device closes the link, or the program exits.")
        case .clock: ("The gateway calls", "A device whose clock cannot be set answers with error 1.")
        case .history:
            (
                "The gateway calls",
                "answers the records of one metric that start at or after `from` and before `to`, ascending by `start`, "
                    + "at most `limit`"
            )
        case .pages: ("The gateway calls", "`next` names the following page, or is `null` after the last one")
        case .acknowledgement:
            (
                "The gateway calls",
                "says that everything of `metric` up to and including the start `through` is on the gateway's disk"
            )
        case .measurement:
            (
                "The gateway calls",
                "Samples follow as `measurement/sample`, and in any case one `measurement/ended`."
            )
        case .measurementNames:
            (
                "The gateway calls",
                "answers as soon as the device took the measurement up, with its own id (string or number)."
            )
        case .notifications: ("The device sends", "| method | params |")
        case .errors: ("Errors", "any other as 6")
        case .unsupported: ("Errors", "A call for what the capabilities do not name is answered with error 1.")
        case .samples: ("Samples", "A sample outside of these is refused.")
        case .capabilities: ("Capabilities", "Each ability is `true` or `false`, and `false` where it is missing")
        case .unknownCapabilities: ("Capabilities", "A metric or an ability of another name is ignored")
        case .monitoring:
            (
                "Configuration of monitoring",
                "Values that make no sense, such as a lower limit above the upper one, are refused with error 3 and change "
                    + "nothing."
            )
        case .summaries: ("Summaries", "A day of `summary/read` has `date`")
        }
    }
}
