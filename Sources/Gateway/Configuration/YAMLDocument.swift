package import GatewayKit
import Yams

/// Converts YAML to `ConfigurationValue`, with all line numbers.
///
/// It accepts YAML 1.1 as libyaml reads it, without features that make a configuration hard to read: no merge keys
/// (`<<`), no tags but `!!str`, one document. Anchors and aliases (`&`, `*`) work: an alias has the lines of its
/// anchor. The reader of a key decides whether a word is a number or a switch, so `off`, `22:00` and `1e3` mean what
/// the key needs.
package struct YAMLDocument {
    /// The document's content; an empty map if it has none.
    package let root: ConfigurationValue
    /// How many values it has, with aliases expanded.
    let count: Int

    /// Reads a document.
    /// - Throws: the errors that make it unreadable.
    package init(_ text: String) throws(ConfigurationError) {
        do {
            // The parser must outlive its nodes: they refer to its anchors.
            let parser = try Parser(yaml: text)
            var conversion = Conversion()
            let root = try parser.singleRoot().map { conversion.value(of: $0, depth: 0) }
            guard conversion.issues.isEmpty else { throw ConfigurationError(issues: conversion.issues) }
            self.root = root ?? ConfigurationValue(.map([]), line: 1)
            count = conversion.count
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw ConfigurationError(issues: [ConfigurationIssue(error, in: text)])
        }
    }
}

/// Visits Yams' nodes once.
private struct Conversion {
    var issues: [ConfigurationIssue] = []
    private(set) var count = 0

    mutating func value(of node: Node, depth: Int) -> ConfigurationValue {
        let line = node.mark?.line ?? 0
        count += 1
        guard count <= ConfigurationLimits.values else {
            report(line, "The file has more than \(ConfigurationLimits.values) values; are there aliases of aliases?")
            return ConfigurationValue(.null, line: line)
        }
        guard depth <= ConfigurationLimits.depth else {
            report(line, "Lists and maps are nested deeper than \(ConfigurationLimits.depth) levels.")
            return ConfigurationValue(.null, line: line)
        }
        switch node {
        case .scalar(let scalar): return ConfigurationValue(content(of: scalar, line), line: line)
        case .sequence(let sequence):
            return ConfigurationValue(.list(sequence.map { value(of: $0, depth: depth + 1) }), line: line)
        case .mapping(let mapping):
            var members: [(key: ConfigurationKey, value: ConfigurationValue)] = []
            for (key, member) in mapping {
                let keyLine = key.mark?.line ?? line
                guard case .scalar(let scalar) = key else {
                    report(keyLine, "A key must be a word, not a list or a map.")
                    continue
                }
                guard scalar.string != "<<" || scalar.style != .plain else {
                    report(keyLine, "Merge keys (<<) are not supported; write the keys out.")
                    continue
                }
                members.append((ConfigurationKey(scalar.string, line: keyLine), value(of: member, depth: depth + 1)))
            }
            return ConfigurationValue(.map(members), line: line)
        case .alias: return ConfigurationValue(.null, line: line)
        }
    }

    private mutating func content(of scalar: Node.Scalar, _ line: Int) -> ConfigurationValue.Content {
        let tag = scalar.tag.description
        let isText = tag == "tag:yaml.org,2002:str"
        if !tag.isEmpty, !isText, tag != "!" {
            report(line, "Tags such as \(tag) are not supported; write the value itself, or for a secret {file: PATH}.")
        }
        let isQuoted = isText || scalar.style != .plain
        return !isQuoted && Self.nothing.contains(scalar.string)
            ? .null : .scalar(scalar.string, isQuoted: isQuoted)
    }

    /// The YAML words for null.
    private static let nothing: Set<String> = ["", "~", "null", "Null", "NULL"]

    private mutating func report(_ line: Int, _ message: String) {
        // One of each kind is enough: over a limit every further value would be an error.
        guard !issues.contains(where: { $0.message == message }) else { return }
        issues.append(ConfigurationIssue(line: line, path: "", message: message))
    }
}
