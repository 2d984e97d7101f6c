// Connects to the server that a JSON document on stdin describes, lists its tools, calls some and
// prints what came back as JSON. The SDK checks results against the output schemas it was given.
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { url, command, calls } = JSON.parse(await text(process.stdin));
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url))
  : new StdioClientTransport(command);
const client = new Client({ name: "independent", version: "1.0.0" });

async function answered(name, given) {
  try {
    const { isError = false, content, structuredContent = null } = await client.callTool({
      name,
      arguments: given,
    });
    return { isError, content, structuredContent };
  } catch (error) {
    return { thrown: error.code, message: error.message };
  }
}

await client.connect(transport);
const { tools } = await client.listTools();
const answers = [];
for (const [name, given] of calls) answers.push(await answered(name, given));
process.stdout.write(JSON.stringify({ server: client.getServerVersion().name, tools, answers }));
await client.close();
