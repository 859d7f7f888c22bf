import Foundation
import GatewayKit
import NIOSSL

/// A file of certificates or keys in PEM format (RFC 7468), checked as far as its labels and this library allow.
struct PEMFile {
    private static let begin = "-----BEGIN "
    private static let end = "-----END "
    private static let sequenceTag: UInt8 = 0x30
    private static let certificateLabels: Set<String> = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]

    private let path: String
    private let lines: [Substring]

    /// Reads a file; `nil` if it cannot be read or is no PEM file, which `ConfigurationReader.pemFile` reports.
    init?(_ path: String) {
        guard let text = try? TextFile.read(path, limit: ConfigurationReader.pemSize), text.contains(Self.begin) else {
            return nil
        }
        self.path = path
        lines = text.split(whereSeparator: \.isNewline)
    }

    /// Why it has no certificate that can be used; `nil` if it may have one.
    /// - Parameter isRead: whether this library must be able to read it. Another library may know more kinds.
    func certificateIssue(isRead: Bool) -> String? {
        let starts = lines.indices.filter { Self.label(of: lines[$0]).map(Self.certificateLabels.contains) ?? false }
        guard !starts.isEmpty else {
            return "\(path) has no certificate in it (-----BEGIN CERTIFICATE-----). Set the file of the certificate."
        }
        let isUnreadable = isRead && (try? NIOSSLCertificate.fromPEMFile(path))?.isEmpty ?? true
        guard isUnreadable || !starts.allSatisfy(isWhole) else { return nil }
        return "The certificate in \(path) is damaged, or of an unknown kind. Make or copy it again."
    }

    /// Why it has no private key that can be used; `nil` if it may have one.
    /// - Parameter isRead: whether this library must be able to read it.
    func keyIssue(isRead: Bool) -> String? {
        let labels = lines.map(Self.label)
        guard let start = labels.firstIndex(where: { $0?.hasSuffix("PRIVATE KEY") ?? false }) else {
            return "\(path) has no private key in it (-----BEGIN PRIVATE KEY-----). Set the file of the key."
        }
        let isOldEncrypted = lines.dropFirst(start + 1).first?.hasPrefix("Proc-Type: 4,ENCRYPTED") ?? false
        if isOldEncrypted || labels[start] == "ENCRYPTED PRIVATE KEY" {
            return "The key in \(path) has a passphrase; remove it with openssl pkey -in \(path) -out NEW."
        }
        let isUnreadable = isRead && (try? NIOSSLPrivateKey(file: path, format: .pem)) == nil
        guard isUnreadable || !isWhole(from: start) else { return nil }
        return "The private key in \(path) is damaged, or of an unknown kind. Make or copy it again."
    }

    /// Whether the part that begins at a line has an end, and a sequence in DER (X.690) between them, which every certificate and
    /// every key is.
    private func isWhole(from start: Int) -> Bool {
        let body = lines[(start + 1)...].prefix { !$0.hasPrefix(Self.end) }
        let text = body.joined().filter { !$0.isWhitespace }
        guard body.endIndex < lines.endIndex, let bytes = Data(base64Encoded: text) else { return false }
        return bytes.first == Self.sequenceTag && bytes.count > 2
    }

    /// The label of a line that begins a part of the file.
    private static func label(of line: Substring) -> String? {
        guard line.hasPrefix(begin), let end = line.dropFirst(begin.count).firstRange(of: "-----") else { return nil }
        return String(line[..<end.lowerBound].dropFirst(begin.count))
    }
}
